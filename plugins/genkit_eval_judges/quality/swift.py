"""Rubrics that say in one call, and so roughly, what others find claim by claim."""

from __future__ import annotations

from genkit_eval_judges.quality.rubric import Example, Rubric

__all__ = ["RUBRICS"]

RUBRICS = (
    Rubric(
        name="faithfulness_swift",
        title="Faithfulness, swift",
        intent="At a glance, the answer keeps to the documents that it was given.",
        criterion="""\
Read the documents, then the answer, and estimate which part of what the answer asserts is in the documents. Weigh \
each assertion by how much the answer rests on it: an invented detail in passing costs little, an invented main \
point nearly all.
An assertion that the documents contradict costs twice what one costs that they only do not mention. Summaries, \
plain inferences and other words for the same are covered. True things that the documents do not say are not. \
Greetings, questions and advice to ask elsewhere assert nothing; an answer that says that the documents do not tell \
is faithful if they do not.
You are asked for an estimate in one go: do not list the assertions one by one.""",
        low="it rests on what is not in the documents, or turns them round",
        middle="its main point is from the documents, and about half of what it adds is not",
        high="all that it asserts is there or follows from it",
        examples=(
            Example(
                "Documents: The ferry runs hourly from 7 to 19.\nRequest: How do I get across?\nAnswer: By ferry, "
                "every hour from 7 to 19; bicycles go free.",
                'The ferry and its hours are there; "bicycles go free" is added.',
                0.7,
            ),
            Example(
                "Documents: The ferry runs hourly from 7 to 19.\nRequest: How do I get across?\nAnswer: There is a "
                "bridge ten minutes north, as the ferry stopped in spring.",
                "The bridge is invented, and that the ferry stopped contradicts the document.",
                0.0,
            ),
        ),
        needs=("context", "response"),
        known_as=("Faithfulness Swift",),
    ),
    Rubric(
        name="truthfulness_swift",
        title="Truthfulness, swift",
        intent="At a glance, what the answer says is true.",
        criterion="""\
Estimate how much of what the answer states as fact is true.
If there are documents, they come first: what they say counts as so, even where you have it otherwise. What they \
leave open, take from what you know for certain. A statement that neither confirms but that fits both is worth about \
half; one that either refutes is worth nothing, and if it is the main point it drags the rest down with it.
Opinions marked as such, fiction that was asked for, and "I do not know" state nothing false. A true answer that \
misleads by what it leaves out is partly untrue. How confident it sounds, and whether it answers the request, does \
not count.
You are asked for an estimate in one go: do not list the statements one by one.""",
        low="its main statement is false",
        middle="the main statement is true with false details around it, or it can neither be confirmed nor refuted",
        high="everything in it is true as far as can be known",
        examples=(
            Example(
                "Documents: (none)\nRequest: Why is the sky blue?\nAnswer: Because the air scatters short waves of "
                "light more than long ones. Newton found that out in 1802.",
                "The cause is right; Newton had died by 1802, and it was Rayleigh who explained it.",
                0.6,
            ),
            Example(
                "Documents: Since March the museum is closed on Tuesdays.\nRequest: Is the museum open on Tuesday?\n"
                "Answer: Yes, it is open daily.",
                '"Open daily" is refuted by the document, and it is all that the answer says.',
                0.0,
            ),
        ),
        shows=("context", "request"),
        known_as=("Truthfulness Swift",),
    ),
)
