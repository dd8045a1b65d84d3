"""Several judges in place of one: each scores the case by itself, and what they say becomes one score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

from pydantic import JsonValue

from genkit_eval.errors import ConfigError
from genkit_eval.judge import Judgeable
from genkit_eval.types import Finding, Outcome, Score, Status

__all__ = ["By", "Judges", "Opinion", "Panel", "agreed", "seated"]

By = Literal["majority", "mean"]
"""How a panel comes to its score."""
Decide = Callable[[float], Score]
_Stand = tuple[Outcome, Status]


@dataclass(frozen=True, slots=True)
class Panel:
    """Several judges and how their scores become one.

    Args:
        judges: at least two, of different names.
        by: "majority": PASS or FAIL as most judges say, UNDECIDED if they are split evenly, and the median of their
            numbers. "mean": the mean of their numbers, and PASS or FAIL by the threshold where the evaluator has one.
    """

    judges: Sequence[Judgeable]
    by: By = "majority"


Judges = Judgeable | Panel | Sequence[Judgeable]
"""What can judge: one judge, or several; a list is a panel that decides by majority."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one judge of a panel says."""

    judge: str
    score: Score


def seated(given: Judges) -> Panel:
    """The judges that were given, as a panel; one alone is a panel of one.

    Raises:
        ConfigError: there is none.
    """
    if isinstance(given, Panel):
        panel = given
    elif isinstance(given, Sequence) and not isinstance(given, str):
        panel = Panel(tuple(given))
    else:
        return Panel((given,))
    if not panel.judges:
        raise ConfigError("judge: a panel of no judges: name at least one")
    if panel.by not in ("majority", "mean"):
        raise ConfigError(f"judge: a panel decides by 'majority' or 'mean', not by {panel.by!r}")
    return panel


def agreed(opinions: Sequence[Opinion], by: By, decide: Decide | None = None) -> Score:
    """The score of a panel, with every opinion in its details under `panel`.

    A judge that failed has no vote; where that leaves no more than half of the judges, the panel has failed.
    `agreement` is the share of votes for what most said, `spread` how far apart the highest and lowest numbers are.

    Args:
        opinions: at least one.
        decide: makes a score of the mean, with PASS or FAIL by the evaluator's threshold.
    """
    votes = [item for item in opinions if item.score.outcome is not Outcome.FAILED]
    stands = Counter((item.score.outcome, item.score.status) for item in votes).most_common()
    numbers = [float(item.score.score) for item in votes if isinstance(item.score.score, int | float)]
    panel: dict[str, JsonValue] = {"by": by, "judges": [_said(item) for item in opinions]}
    if votes:
        panel["agreement"] = stands[0][1] / len(votes)
    if len(numbers) > 1:
        panel["spread"] = max(numbers) - min(numbers)
    more = {"details": {"panel": panel}, "findings": _findings(votes)}
    reason = _reason(votes, stands, failed=len(opinions) - len(votes))
    if 2 * len(votes) <= len(opinions):
        failed = next(item for item in opinions if item not in votes)
        why = f"{len(opinions) - len(votes)} of {len(opinions)} judges failed; {failed.judge}: {failed.score.error}"
        return Score.broke(why, details={"panel": panel})
    if 2 * sum(item.score.outcome is Outcome.INCONCLUSIVE for item in votes) > len(votes):
        return Score.inconclusive(reason=reason, details={"panel": panel})
    if by == "mean" and decide is not None and numbers:
        found = decide(fmean(numbers))
        return found.model_copy(update={"reason": reason, **more})
    number = (fmean(numbers) if by == "mean" else median(numbers)) if numbers else None
    return _by_vote(number, stands, reason, more)


def _by_vote(
    number: float | None, stands: Sequence[tuple[_Stand, int]], reason: str, more: Mapping[str, object]
) -> Score:
    (outcome, status), count = stands[0]
    split = len(stands) > 1 and stands[1][1] == count
    if outcome is not Outcome.VERDICT or number is None or split:
        return Score.undecided(number, reason=reason, **more)
    return Score.scored(number, reason=reason, status=status, **more)


def _reason(votes: Sequence[Opinion], stands: Sequence[tuple[_Stand, int]], *, failed: int) -> str:
    counts = [f"{count} {_word(*stand)}" for stand, count in stands] + [f"{failed} failed"] * bool(failed)
    return "; ".join(
        [", ".join(counts), *(f"{item.judge}: {item.score.reason or 'no reason given'}" for item in votes)]
    )


def _word(outcome: Outcome, status: Status) -> str:
    if status is not Status.UNKNOWN:
        return status.value
    return "without PASS or FAIL" if outcome is Outcome.VERDICT else outcome.value.lower()


def _findings(votes: Sequence[Opinion]) -> list[Finding]:
    return [
        finding.model_copy(update={"details": {**(finding.details or {}), "judge": item.judge}})
        for item in votes
        for finding in item.score.findings
    ]


def _said(item: Opinion) -> JsonValue:
    score = item.score
    said: dict[str, JsonValue] = {
        "judge": item.judge,
        "status": score.status.value,
        "outcome": score.outcome.value,
    }
    given = {"score": score.score, "reason": score.reason, "error": score.error}
    said |= {name: value for name, value in given.items() if value is not None}
    return said | {"details": {**score.details}} if score.details else said
