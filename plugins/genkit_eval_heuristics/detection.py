"""What of an instruction can be checked by a program: from English sentences to checks.

It is made to be right about what it finds rather than to find all: a sentence with a condition, a permission, an
approximate number or another subject than the answer asks for nothing that could be checked.
"""

from __future__ import annotations

from functools import lru_cache

from genkit_eval_heuristics.checks import Check
from genkit_eval_heuristics.clauses import MAX_INSTRUCTION, clauses
from genkit_eval_heuristics.form_detection import FORM_DETECTORS
from genkit_eval_heuristics.phrase_detection import PHRASE_DETECTORS

__all__ = ["detected"]


def detected(instruction: str) -> tuple[Check, ...]:
    """The checks in an instruction, in the order of its sentences; what it says twice is one check."""
    return _detected(instruction[:MAX_INSTRUCTION])


@lru_cache(maxsize=1024)
def _detected(instruction: str) -> tuple[Check, ...]:
    found: dict[Check, None] = {}
    for clause in clauses(instruction):
        for detector in (*FORM_DETECTORS, *PHRASE_DETECTORS):
            found.update(dict.fromkeys(detector(clause)))
    # "use bullets such as …" says nothing beside "exactly 6 bullets"
    precise = {check.kind for check in found if (check.least, check.most) not in ((1, None), (None, None))}
    return tuple(check for check in found if (check.least, check.most) != (1, None) or check.kind not in precise)
