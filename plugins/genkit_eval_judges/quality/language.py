"""Rubrics of how an answer is put: its thread, its length, its words."""

from __future__ import annotations

from genkit_eval_judges.quality.rubric import Example, Rubric

__all__ = ["RUBRICS"]

RUBRICS = (
    Rubric(
        name="coherence",
        title="Coherence",
        intent="The answer is one whole: each part follows from the one before, and none contradicts another.",
        criterion="""\
Follow the thread from the first sentence to the last.
- Order: what a step builds on has been said before it; nothing is taken up twice in different places.
- Links: it is plain how a sentence belongs to the one before; "therefore", "but" and "this" point at what they \
claim to.
- One voice: a thing keeps its name, a number its value, a claim its direction. Two parts that cannot both be so \
weigh most.
- An end: what was begun ("first", "two reasons") is finished.
Whether the statements are true, complete or elegant does not count; a false argument may be coherent. A short \
answer of one sentence that holds together is fully coherent.""",
        low="sentences stand side by side without a thread, or its main statements contradict each other",
        middle="the thread can be found, but it jumps once, loses a part, or contradicts itself in a minor point",
        high="each sentence has its place, and nothing in it clashes",
        examples=(
            Example(
                "Answer: The trail is closed in winter. So you can hike it in January, when it is quietest.",
                '"Closed in winter" and "hike it in January" cannot both hold, and "so" links them.',
                0.1,
            ),
            Example(
                "Answer: Two things matter for bread: time and heat. Time lets the dough rise. Heat sets the crust.",
                "It announces two things and takes up each in turn.",
                1.0,
            ),
        ),
        known_as=("Coherence",),
    ),
    Rubric(
        name="conciseness",
        title="Conciseness",
        intent="The answer spends no word that its reader could have done without.",
        criterion="""\
Ask how much could be struck out before the reader would miss something: the request repeated, greetings and closing \
phrases, announcements of what will be said, the same said twice, hedges upon hedges, facts that nobody asked for, \
long turns of phrase where a word would do.
Length by itself is nothing: a long answer to a large request may hold no spare word, and a short one may be half \
filler. Nor does an answer get concise by leaving out what was asked: judge only what is there. Examples and \
explanations that the request calls for are not filler; a single word of courtesy is not either.""",
        low="most of it could go: the matter is a small part of the text",
        middle="about a third could be struck out without loss",
        high="every sentence carries something the reader needs",
        examples=(
            Example(
                "Request: What is the capital of Peru?\nAnswer: Great question! You would like to know the capital of "
                "Peru. The capital of Peru is the city of Lima. I hope that this helps!",
                'One word of it, "Lima", answers; praise, repetition and the closing phrase could all go.',
                0.15,
            ),
            Example(
                "Request: How do I stop the alarm?\nAnswer: Hold the red button for three seconds, until it beeps "
                "twice.",
                "Button, time and sign are all needed; there is nothing else.",
                1.0,
            ),
        ),
        known_as=("Conciseness",),
    ),
    Rubric(
        name="clarity",
        title="Clarity",
        intent="Whoever asked understands the answer at the first reading.",
        criterion="""\
Put yourself in the place of the person who asked, with the knowledge that the request shows, and read once, without \
going back. Where would you stumble?
- words and abbreviations that such a reader does not know and that are not explained;
- sentences that can be read in two ways, and "it", "this" or "the former" of which one has to guess what they mean;
- the point buried: one has to read all of it to learn what the answer is;
- steps or cases that run together so that one cannot tell them apart.
Expert words to an expert are clear. Dry is not unclear. Whether it is right or complete does not count.""",
        low="after one reading its meaning stays in the dark, or is easily taken for another one",
        middle="the point comes across, but one passage has to be read twice or a word looked up",
        high="one reading is enough for all of it",
        examples=(
            Example(
                "Request: My phone is full, what now?\nAnswer: Offload the unused binaries and flush the thumbnail "
                "cache, which also regenerates the index.",
                'Nothing in the request shows that its writer knows "binaries", "thumbnail cache" or "index".',
                0.15,
            ),
            Example(
                "Request: Do I need a visa?\nAnswer: Not for up to 90 days, if your passport is from a country in the "
                "list below. With any other passport, yes.",
                "The two cases stand apart, each with its condition, and one reading tells which one applies.",
                0.95,
            ),
        ),
        known_as=("Clarity",),
    ),
    Rubric(
        name="precision",
        title="Precision",
        intent="The answer is exact: it says how much, which one and when, and not just roughly what.",
        criterion="""\
Go through what the answer asserts and ask of each assertion whether it could be more definite without going beyond \
what can be known. Vague are "some", "often", "soon", "various factors", "a significant amount", "it depends" \
without on what; nouns that fit anything ("aspects", "solutions"); a kind where an individual is meant; claims so \
hedged that nothing could refute them.
Exact are numbers with units, names, dates, conditions, the right technical term. A range is exact where the thing \
itself varies; a limit that is said ("in the data up to 2020") adds to it. False exactness, a figure to three places \
that nobody could know, is as bad as vagueness. Whether a figure is true is not judged here.""",
        low="nothing in it can be pinned down: it would fit most questions of the kind",
        middle="the main point is definite, and around it stand vague quantities and general words",
        high="wherever a number, a name or a condition belongs, it is there",
        examples=(
            Example(
                "Request: How long does the paint take to dry?\nAnswer: It usually dries fairly quickly, depending on "
                "various factors.",
                '"Fairly quickly" and "various factors" give neither a time nor a condition.',
                0.0,
            ),
            Example(
                "Request: How long does the paint take to dry?\nAnswer: Four hours at 20 °C; below 10 °C about twice "
                "as long.",
                "It gives hours, the temperature they hold at, and what changes below 10 °C.",
                0.95,
            ),
        ),
        known_as=("Precision",),
    ),
    Rubric(
        name="reading_ease",
        title="Reading ease",
        intent="The text is easy on the reader: it could be read aloud to a fourteen-year-old without a halt.",
        criterion="""\
Judge the language as language, whatever it says and to whom:
- sentences: short ones read easily; nested clauses, long strings of nouns and passives upon passives do not;
- words: everyday ones against long, foreign or learned ones;
- rhythm: sentences of different length, one thought in each;
- layout: paragraphs and lists where they help the eye; no walls of text, no clutter of symbols and brackets.
Measure by a reader of fourteen in the language of the answer. Unlike clarity, it does not matter here whether the \
reader knows the subject: a plain sentence about a hard thing is easy to read. A necessary technical term costs \
little if the sentence around it is simple. Code, tables and formulas are not counted.""",
        low="it takes the effort of a statute book: long nested sentences of learned words",
        middle="an adult reads it without trouble, a fourteen-year-old with some",
        high="plain words in short sentences; it reads itself",
        examples=(
            Example(
                "Answer: Notwithstanding the aforementioned provisions, the remuneration is, insofar as no derogation "
                "has been stipulated, payable upon completion.",
                'One nested sentence of learned words ("notwithstanding", "derogation", "stipulated").',
                0.05,
            ),
            Example(
                "Answer: The heart is a pump. It beats about 70 times a minute. Each beat pushes blood to the lungs.",
                "Three short sentences, each with one thought, in everyday words.",
                1.0,
            ),
        ),
        shows=(),
        known_as=("Reading Ease",),
    ),
    Rubric(
        name="writing_professional",
        title="Quality of professional writing",
        intent="The text could go out under the letterhead of a good firm without being touched.",
        criterion="""\
Read it as an editor who has to release it for work: a mail to a client, a report, a notice.
- Correct: grammar, spelling, punctuation, agreement of tenses; names and terms written the same way throughout.
- To the matter: the purpose shows at once, the facts are separated from opinions, what is wanted of the reader is \
said.
- In order: heading, paragraphs and lists as the kind of text asks for them, with nothing that is there for show.
- In tone: even and courteous, neither chummy nor pompous; no slang, no exclamation marks, no advertising.
Take the kind of text that the request asks for as the measure. Wit and beauty earn nothing; the facts themselves \
are not checked.""",
        low="it would embarrass its sender: errors in many sentences, or the tone of a chat",
        middle="an editor would mend some mistakes, a clumsy paragraph or a slip in tone before it goes out",
        high="it can be sent as it is",
        examples=(
            Example(
                "Request: Tell the client that the delivery is late.\nAnswer: Hey!! So sorry but ur order is gonna be "
                "late lol, probably next week?",
                'Tone and spelling of a chat ("Hey!!", "ur", "lol"), and "probably next week?" is no commitment.',
                0.0,
            ),
            Example(
                "Request: Tell the client that the delivery is late.\nAnswer: Dear Ms Orr, your order will arrive on 9 "
                "May instead of 2 May, because a part have been held at customs. I apologise for the delay.",
                'Purpose, cause and dates are there and the tone fits; one error of grammar: "a part have been".',
                0.75,
            ),
        ),
        known_as=("Quality of Writing Professional", "Quality of Professional Writing"),
    ),
    Rubric(
        name="writing_creative",
        title="Quality of creative writing",
        intent="The text is literature in small: somebody chose these words, and one wants to read on.",
        criterion="""\
Read it as the editor of a magazine for stories and verse.
- Image: things are shown so that one sees and hears them, not named by labels ("she was sad").
- Language: the words surprise and fit; no worn phrases ("a chill ran down his spine"), no piled-up adjectives; \
rhythm that serves the moment.
- Voice and people: somebody particular speaks; figures want something, and talk as they would.
- Shape: it goes somewhere, and its end was earned; what form asks for (metre, a twist, a length) is kept.
Take the form that the request asks for as the measure. Correct grammar is not enough, and may be broken on purpose. \
Dark or odd matter is no fault; a moral tacked on at the end is one.""",
        low="labels and stock phrases; anyone could have written it about anything",
        middle="it is told with care and has one or two live moments among worn ones",
        high="particular, alive in every line, and whole",
        examples=(
            Example(
                "Request: Two sentences about a farewell.\nAnswer: It was a very sad and emotional goodbye. Their "
                "hearts were broken into a thousand pieces.",
                'It names the feeling ("very sad and emotional") and ends on a stock phrase.',
                0.1,
            ),
            Example(
                "Request: Two sentences about a farewell.\nAnswer: He had packed her umbrella by mistake and found it "
                "at the border, still wet. He held it open in the compartment until it dried.",
                "The umbrella shows the loss without naming it, and the second sentence is a gesture one sees.",
                0.9,
            ),
        ),
        known_as=("Quality of Writing Creative",),
    ),
)
