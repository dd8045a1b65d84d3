"""Rubrics of how an answer meets the person who asked: willing, helpful, polite, convincing, worth reading."""

from __future__ import annotations

from genkit_eval_judges.quality.rubric import Example, Rubric

__all__ = ["RUBRICS"]

RUBRICS = (
    Rubric(
        name="helpfulness",
        title="Helpfulness",
        intent="Whoever asked is further than before: the answer does for them what they came for.",
        criterion="""\
Ask what the person wanted to get done, which may be more than the words of the request, and what they can do now \
that they could not before.
- It serves the purpose: it solves the problem, or brings the next step within reach, for this person in this \
situation.
- It can be acted upon: what to do, with what, in which order, and what to do if it fails.
- It thinks along: a wrong premise, a danger, a better way to the same end is pointed out.
- Where it cannot help, it says so and names who or what can.
An answer that is wrong where it matters helps nobody, however kind. Learned, long and friendly earn nothing by \
themselves; a general lecture in place of help is no help. Help with something harmful is not wanted: declining it \
with a way that is acceptable is the helpful answer.""",
        low="they are no further, or led astray",
        middle="part of it can be used, but the decisive step, or what fits their situation, is left to them",
        high="they can go and do it; what they would have asked next is answered too",
        examples=(
            Example(
                "Request: My bike chain keeps coming off, I have to be at work in an hour.\nAnswer: Bicycle chains are "
                "made of links; many factors influence how they run. Regular service is recommended.",
                'Nothing in it puts the chain back or keeps it on; "regular service" does not help within an hour.',
                0.05,
            ),
            Example(
                "Request: My bike chain keeps coming off, I have to be at work in an hour.\nAnswer: For today: shift "
                "to the middle gear and leave it there; the chain stays on then. Tonight turn the screw marked H half "
                "a turn clockwise if it falls off outwards, L if inwards.",
                'It gets them to work ("leave it there") and says how to mend the cause afterwards.',
                0.95,
            ),
        ),
        needs=("request", "response"),
        shows=("system_prompt", "turns"),
        known_as=("Helpfulness",),
    ),
    Rubric(
        name="answer_willingness",
        title="Answer willingness",
        intent="The answer takes the question up and answers it, with neither a refusal nor a way around it.",
        criterion="""\
Judge only whether the question is answered, not how well or how truly.
- Presence: somewhere in it stands an answer to what was asked.
- Directness: it is given as the answer, without being wrapped so that nobody can be held to it ("some might say").
Against it count: a refusal, whole or in part; "I am only a language model"; sending the reader elsewhere in place \
of an answer; a question back where the request was plain; talk about the subject that leaves the question open; an \
answer to a tamer question.
A reasonable question back to a request that cannot be answered without it is half willing. "That is not known" is \
an answer if it is one about the world, and a refusal if it is one about the speaker. Whether it was right to refuse \
does not count here: a proper refusal is still one. Warnings beside a full answer cost nothing.""",
        low="it refuses, or speaks of something else",
        middle="it answers in part, or so wrapped that one must guess what the answer is",
        high="the question is answered, straight",
        examples=(
            Example(
                "Request: Which of the two lenses would you take?\nAnswer: That is a personal decision. Both have "
                "their fans, and a shop can advise you.",
                'No lens is named: "a personal decision" and "a shop can advise you" lead around the question.',
                0.05,
            ),
            Example(
                "Request: Which of the two lenses would you take?\nAnswer: The 35 mm, though you should hold both "
                "before you pay.",
                '"The 35 mm" answers outright; the advice beside it takes nothing back.',
                1.0,
            ),
        ),
        needs=("request", "response"),
        shows=("turns",),
        known_as=("Answer Willingness",),
    ),
    Rubric(
        name="politeness",
        title="Politeness",
        intent="The answer treats the reader with courtesy, as a good host would.",
        criterion="""\
Look at how the reader is addressed and dealt with:
- forms: greeting, please, thanks and apology where the occasion and the language ask for them; the right form of \
address;
- requests put as requests, corrections without rubbing them in, a no with its ground;
- respect for time, feelings and ability: no orders, no lecturing, no impatience, no "as I already said".
Measure by the manners of the language and the situation: a plain answer to a plain question is polite, a mail of \
complaint needs more. Effusive or servile phrases add nothing. What is said in a friendly way but wrong is still \
polite; rudeness towards third persons counts less than towards the reader.""",
        low="it snubs, orders about or scolds the reader",
        middle="correct but curt, or with one remark that a host would have swallowed",
        high="considerate throughout, in the manner that fits",
        examples=(
            Example(
                "Request: Could you send the form again? I cannot find it.\nAnswer: You already have it. Look through "
                "your mail before asking.",
                '"You already have it" and "before asking" scold the reader, and the request is brushed off.',
                0.05,
            ),
            Example(
                "Request: Could you send the form again? I cannot find it.\nAnswer: Here it is. Fill in both pages.",
                'The request is met at once; "Fill in both pages" is a bare order, with no word of courtesy around it.',
                0.55,
            ),
        ),
        known_as=("Politeness",),
    ),
    Rubric(
        name="engagingness",
        title="Engagingness",
        intent="One wants to read on, and to reply.",
        criterion="""\
Ask whether the answer keeps a reader who is free to leave.
- It speaks to this person: it takes up what they said, and their reasons for asking.
- It is alive: a vivid example, a telling detail, a turn that one did not see coming; verbs that do something.
- It opens something: a thought to follow up, an offer or a question that one would like to answer.
Against it count: the tone of a form letter, lists where a sentence would live, the same opening as every time, \
enthusiasm put on ("What a fantastic question!"), questions at the end that nobody wants to answer. An engaging \
answer may be short and sober; jokes and emojis do not make one. Whether it is right is not judged here.""",
        low="a form letter: one stops reading half way",
        middle="pleasant to read, but nothing in it holds or invites",
        high="it speaks to the reader and leaves them wanting more",
        examples=(
            Example(
                "Request: I am reading about octopuses.\nAnswer: Octopuses are molluscs. They have eight arms. They "
                "live in the sea. Let me know if you have further questions!",
                'A list of lexicon facts, and a closing phrase ("Let me know") that fits any subject.',
                0.15,
            ),
            Example(
                "Request: I am reading about octopuses.\nAnswer: Then you may have got to the odd part: two thirds of "
                "their neurons sit in the arms. Cut one off and it goes on reaching for food. Does your book say what "
                "that means for who is in charge?",
                "It takes up the reading, gives a startling detail, and asks what one would like to think about.",
                0.95,
            ),
        ),
        shows=("turns", "request"),
        known_as=("Engagingness",),
    ),
    Rubric(
        name="originality",
        title="Originality",
        intent="The answer has something of its own: a thought, an angle or an image one would not get from anyone.",
        criterion="""\
Imagine a hundred competent answers to the same request. How much of this one would stand in none of them?
- ideas: a connection, a cause, a solution that is not the first to come to mind;
- angle: the matter seen from a side that one does not expect, and that shows something;
- form: a comparison, an order, a way of telling that is not the pattern of the kind.
The unusual has to fit the request: a random or absurd turn is no idea, rare words are no thought. Quoting somebody \
else's striking line is not original. Where the request leaves no room (a sum, a date), rate near the middle if it \
is plainly answered. Truth and usefulness are not judged here, but nonsense is not original.""",
        low="stock material: each sentence could be finished by anybody who read its beginning",
        middle="mostly what one expects, with one touch of its own",
        high="a thought and a form that most would not have come upon, and that fit",
        examples=(
            Example(
                "Request: A slogan for a library.\nAnswer: Open a book, open your mind!",
                "The opened book that opens the mind is the slogan that everybody would think of first.",
                0.05,
            ),
            Example(
                "Request: A slogan for a library.\nAnswer: Quiet since 1887. Listen.",
                'It turns the silence of the place into the offer, and "Listen" makes one hear it.',
                0.9,
            ),
        ),
        known_as=("Originality",),
    ),
    Rubric(
        name="persuasiveness",
        title="Persuasiveness",
        intent="A reader who doubts would be moved, by arguments and evidence.",
        criterion="""\
Read it as somebody who is not yet convinced, but fair. What would move you?
- a claim that is plain from the start, and reasons that really bear on it;
- evidence: figures, cases, sources, experience, and that it says where they come from;
- the strongest objection taken up and met;
- this reader's own interests and values addressed, and at the end what to think or do.
Loudness, repetition, flattery, fear and pressure do not persuade a fair reader and count against it; so do reasons \
that do not follow, and evidence that is only asserted ("studies show"). A warm tone and a good order help only what \
has an argument. Whether you share the view does not matter, and where the request wants no case made, judge the \
case that the answer makes for what it says.""",
        low="it only asserts or pushes: whoever doubted doubts on",
        middle="one reason that bears, thinly backed, and no word on what speaks against it",
        high="reasons with evidence, objections met; a fair doubter would come round",
        examples=(
            Example(
                "Request: Convince our council to plant trees on the market square.\nAnswer: Everybody knows that "
                "trees are wonderful. Do not be the council that says no to life!",
                'It asserts ("everybody knows") and presses; there is no reason a council could weigh.',
                0.1,
            ),
            Example(
                "Request: Convince our council to plant trees on the market square.\nAnswer: Last July the square "
                "reached 51 °C by the fire brigade's log, and stalls closed at noon. Twelve planes shade half of it in "
                "eight years. They cost 30,000, what four such market days lose. Roots are no danger to the mains, "
                "which run under the north kerb.",
                "Figures with their source, the council's own interest, and the objection about the mains is met.",
                0.95,
            ),
        ),
        known_as=("Persuasiveness",),
    ),
)
