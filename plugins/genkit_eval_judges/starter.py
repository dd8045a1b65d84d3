"""The files that evaluators of one's own begin with, explained in comments."""

from __future__ import annotations

import json
import re

__all__ = ["starter_text"]

CRITERION = """\
name: {name}
# what the evaluator is for, in a sentence
intent: Customers learn how long they can send a parcel back.
# what the judge judges by; {{{{response}}}} and other variables are spoken of like that
criterion: |
  {{{{response}}}} names the time in which a parcel can be sent back, and names no other than {{{{reference}}}}.
# what the judge sees; without this, the variables that the text speaks of. Others: request, context, turns, tools, and
# the keys of a sample's 'custom'
# variables: [request, response, reference]
# continuous (0 to 1), binary, {{low: 1, high: 10}}, or a list of categories: {{label: good, score: 1, meaning: …}}
scale: continuous
anchors:
  low: No time is named, or a wrong one.
  middle: The time is hinted at ("a few weeks").
  high: The time is named exactly.
# judgements to learn from; keep them out of the data that you calibrate with
demonstrations:
  - request: Can I send it back?
    response: Sure, within a month or so.
    score: 0.5
    justification: "\\"A month or so\\" hints at the time."
# model: openai/NAME
# parameters: {{temperature: 0}}
threshold: 0.5
"""

GEVAL = """\
kind: geval
name: {name}
# what the judge judges by; {{{{response}}}} and other variables are spoken of like that
criterion: |
  Coherence: the sentences of {{{{response}}}} build on each other, and together they answer {{{{request}}}}.
# how to judge; without this, the judge is asked for steps before the first run
# steps:
#   - Read [response] once, and mark where it jumps.
#   - Rate from 1 to 5.
# auto: ratings are weighted by the probabilities of their tokens where the server gives them; on, off
weighting: auto
# model: openai/NAME
threshold: 0.5
"""


def starter_text(name: str) -> str:
    """A file to begin with, for an evaluator of that name: after G-Eval if it begins with "geval/"."""
    bare = name.removeprefix("geval/").removeprefix("geval_")
    text = CRITERION if bare == name else GEVAL
    # a single word may mean something in YAML ("true"), and JSON in quotes never does
    return text.format(name=bare if re.fullmatch(r"[a-z_]+/[a-z_/]+", bare) else json.dumps(bare))
