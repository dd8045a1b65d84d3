"""How much is in an answer: `quality/completeness`, point by point, `quality/information_density`, by sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from genkit_eval import Score
from genkit_eval.claims import statements
from genkit_eval.judged import NONE, Instruments
from genkit_eval_judges.counting import CountOptions, nothing_counted
from genkit_eval_judges.inputs import INPUTS, Inputs
from genkit_eval_judges.quality.grading import Worths, grade, graded
from genkit_eval_judges.quality.rubric import scorable
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES", "completeness", "information_density", "sentences"]

POINT: Worths = {"covered": 1, "partly": 0.5, "missing": 0}
SENTENCE: Worths = {"informative": 1, "vague": 0, "empty": 0}

_END = re.compile(r"""(?:(?<=[.!?…])|(?<=[.!?…]["'”’)\]]))[ \t]+|(?<=[。！？])|\n+""")
_WORD = re.compile(r"\w")
_NUMBER_ONLY = re.compile(r"[\s\W]*\d+[.)]")


async def completeness(inputs: Inputs, options: CountOptions, use: Instruments) -> Score:
    """The mean over the points that the request asks for: covered 1, partly 0.5, missing 0."""
    texts = {"turns": INPUTS["turns"].text(inputs) or NONE, "request": inputs.request}
    points = await statements(use.judge, use.prompts["statements"], texts)
    if not points:
        return nothing_counted(options, "the request asks for nothing")
    found = await grade(use.judge, use.prompts["grades"], points, POINT, shown=inputs.shown(("request", "response")))
    return graded(found, POINT, options, what="points asked for", nothing="the request asks for nothing")


async def information_density(inputs: Inputs, options: CountOptions, use: Instruments) -> Score:
    """The share of the answer's sentences that say something definite and new."""
    inputs.files.require_text()
    told = sentences(inputs.response)
    if not told:
        return nothing_counted(options, "the answer holds no sentence")
    shown = inputs.shown(("request",))
    found = await grade(use.judge, use.prompts["grades"], told, SENTENCE, shown=shown, in_order=True)
    return graded(found, SENTENCE, options, what="sentences", nothing="the answer holds no sentence")


def sentences(text: str) -> Sequence[str]:
    """The sentences of a text, and the lines of lists, code and tables; what holds no word is left out."""
    ends = [end for end in _END.finditer(text) if not _goes_on(text, end)]
    starts = [0, *(end.end() for end in ends)]
    pieces = [text[start:end].strip() for start, end in zip(starts, [*(e.start() for e in ends), None], strict=True)]
    found: list[str] = []
    numbers: list[str] = []
    for piece in (piece for piece in pieces if _WORD.search(piece)):
        numbers.append(piece)
        # "1." before an item belongs to it
        if not _NUMBER_ONLY.fullmatch(piece):
            found.append(" ".join(numbers))
            numbers = []
    return [*found, " ".join(numbers)] if numbers else found


def _goes_on(text: str, end: re.Match[str]) -> bool:
    """Whether a stop only ended an abbreviation, as a small letter after it shows."""
    return end[0].isspace() and "\n" not in end[0] and text[end.end() : end.end() + 1].islower()


JUDGES = (
    Recipe(
        name="quality/completeness",
        ask=completeness,
        prompts={"statements": "quality_completeness_points", "grades": "quality_completeness_grades"},
        needs=("request", "response"),
        reads=("turns",),
        options=CountOptions,
        display_name="Completeness",
        definition="The answer deals with every point that the request asks for.",
        formula="mean over points: covered 1, partly 0.5, missing 0",
        source="Scorable",
        calls="1 + 1 for every 20 points",
        aliases=scorable("Completeness"),
    ),
    Recipe(
        name="quality/information_density",
        ask=information_density,
        prompts={"grades": "quality_information_density"},
        needs=("response",),
        reads=("request",),
        options=CountOptions,
        display_name="Information density",
        definition="Every sentence tells something definite and new; none is vague, evasive, a question or filler.",
        formula="informative sentences / sentences",
        source="Scorable",
        calls="1 for every 20 sentences",
        aliases=scorable("Information Density"),
    ),
)
