"""What several passes over the same cases say: the verdict of each case over its repeats, pass@k and pass^k.

A repeat counts for a metric when it has a verdict or is undecided. Repeats that are inconclusive or FAILED, or whose
target broke, say nothing: they are left out, and every figure says over how many it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from genkit_eval.stats.moments import spread_within
from genkit_eval.stored import EvalMetric, EvalResult, EvaluatorRecord, bare_name
from genkit_eval.types import Outcome, Status

__all__ = ["CaseRepeats", "CaseVerdict", "PassAt", "RepeatSummary", "pass_at_k", "pass_hat_k", "summarize_repeats"]


class CaseVerdict(StrEnum):
    """What the repeats of one case agree on, for one metric."""

    PASS = "PASS"
    FAIL = "FAIL"
    VARIED = "VARIED"
    """They do not agree: some passed, some failed or were undecided."""
    UNDECIDED = "UNDECIDED"
    NO_RESULT = "NO_RESULT"
    """No repeat gave anything: all inconclusive or FAILED."""


def pass_at_k(repeats: int, passed: int, k: int) -> float:
    """The chance that at least one of k repeats passes, estimated without bias from `passed` of n `repeats`.

    1 - C(n - passed, k) / C(n, k): the share of all choices of k out of the n repeats in which at least one passed.
    The simpler 1 - (1 - passed/n)^k is too low for k > 1.

    Raises:
        ValueError: not 1 <= k <= repeats, or not 0 <= passed <= repeats.
    Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", section 2.1.
    """
    choices = _choices(repeats, passed, k)
    return (choices - math.comb(repeats - passed, k)) / choices


def pass_hat_k(repeats: int, passed: int, k: int) -> float:
    """pass^k: the chance that all of k repeats pass, estimated without bias from `passed` of n `repeats`.

    C(passed, k) / C(n, k): the share of all choices of k out of the n repeats in which every one passed.
    The simpler (passed/n)^k is too high for k > 1.

    Raises:
        ValueError: not 1 <= k <= repeats, or not 0 <= passed <= repeats.
    Source: Yao et al. 2024, "tau-bench", section 3.
    """
    choices = _choices(repeats, passed, k)
    return math.comb(passed, k) / choices


def _choices(repeats: int, passed: int, k: int) -> int:
    if not 1 <= k <= repeats or not 0 <= passed <= repeats:
        raise ValueError(
            f"k = {k}, {passed} of {repeats} passed: expected 1 <= k <= repeats and 0 <= passed <= repeats"
        )
    return math.comb(repeats, k)


@dataclass(slots=True)
class CaseRepeats:
    """One metric of one case over its `total` repeats: how many passed, failed (FAIL), were undecided.

    `plain` have a score without PASS or FAIL; the rest of the repeats gave nothing. `numbers`: the verdicts' scores.
    """

    test_case_id: str
    total: int = 0
    passed: int = 0
    failed: int = 0
    undecided: int = 0
    plain: int = 0
    numbers: list[float] = field(default_factory=list)

    @property
    def judged(self) -> int:
        """How many repeats are PASS or FAIL."""
        return self.passed + self.failed

    @property
    def verdict(self) -> CaseVerdict | None:
        """What the repeats agree on; None where they have scores, but neither PASS nor FAIL."""
        said = [
            verdict
            for verdict, count in (
                (CaseVerdict.PASS, self.passed),
                (CaseVerdict.FAIL, self.failed),
                (CaseVerdict.UNDECIDED, self.undecided),
            )
            if count
        ]
        if len(said) > 1:
            return CaseVerdict.VARIED
        if said:
            return said[0]
        return None if self.plain else CaseVerdict.NO_RESULT

    def add(self, metric: EvalMetric) -> None:
        """Count what one repeat said."""
        ended = metric.ended
        if ended is Outcome.UNDECIDED:
            self.undecided += 1
        if ended is not Outcome.VERDICT:
            return
        if metric.status is Status.PASS:
            self.passed += 1
        elif metric.status is Status.FAIL:
            self.failed += 1
        else:
            self.plain += 1
        score = metric.score
        if isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score):
            self.numbers.append(score)


@dataclass(frozen=True, slots=True)
class PassAt:
    """pass@k and pass^k of a run: the mean over the `cases` with at least k repeats that are PASS or FAIL."""

    k: int
    at_least_one: float
    every: float
    cases: int


@dataclass(frozen=True, slots=True)
class RepeatSummary:
    """One metric (and score id) over the cases of a run with repeats."""

    evaluator: str
    score_id: str | None
    repeats: int
    cases: Sequence[CaseRepeats]

    @property
    def name(self) -> str:
        """What people call it: the evaluator's bare name, and the score id where there is one."""
        return bare_name(self.evaluator, self.score_id)

    @property
    def verdicts(self) -> Mapping[CaseVerdict, int]:
        """How many cases have which verdict; those with scores alone have none."""
        counts = dict.fromkeys(CaseVerdict, 0)
        for case in self.cases:
            verdict = case.verdict
            if verdict is not None:
                counts[verdict] += 1
        return counts

    @property
    def rates(self) -> Sequence[PassAt]:
        """pass@k and pass^k for each k up to the number of repeats; a k for which no case has enough is left out."""
        return [rate for k in range(1, self.repeats + 1) if (rate := self._rate(k)) is not None]

    def _rate(self, k: int) -> PassAt | None:
        enough = [case for case in self.cases if case.judged >= k]
        if not enough:
            return None

        def mean(share: Callable[[int, int, int], float]) -> float:
            return math.fsum(share(case.judged, case.passed, k) for case in enough) / len(enough)

        return PassAt(k, mean(pass_at_k), mean(pass_hat_k), len(enough))

    @property
    def spread_within(self) -> float | None:
        """How far the numbers of one case lie apart: the standard deviation within cases, pooled over them.

        None without a case that has two numbers.
        """
        return spread_within(case.numbers for case in self.cases)


def summarize_repeats(results: Iterable[EvalResult], evaluators: Sequence[EvaluatorRecord] = ()) -> list[RepeatSummary]:
    """Each metric over the cases of a run, whose repeats have the same id; read once, as a stream.

    The metrics come in the order of `evaluators`; the cases in the order in which they are met.
    """
    totals: dict[str, int] = {}
    columns: dict[str, dict[str | None, dict[str, CaseRepeats]]] = {record.evaluator: {} for record in evaluators}
    for result in results:
        case_id = result.test_case_id or ""
        totals[case_id] = totals.get(case_id, 0) + 1
        for metric in result.metrics:
            by_score = columns.setdefault(metric.evaluator, {})
            if metric.ended in (Outcome.VERDICT, Outcome.UNDECIDED):
                cases = by_score.setdefault(metric.score_id, {})
                if case_id not in cases:
                    cases[case_id] = CaseRepeats(case_id)
                cases[case_id].add(metric)
    return list(_summaries(columns, totals))


def _summaries(
    columns: Mapping[str, Mapping[str | None, Mapping[str, CaseRepeats]]], totals: Mapping[str, int]
) -> Iterator[RepeatSummary]:
    most = max(totals.values(), default=0)
    for evaluator, by_score in columns.items():
        for score_id in sorted(by_score, key=lambda name: name or "") or [None]:
            spoken = by_score.get(score_id, {})
            cases = [spoken.get(case_id) or CaseRepeats(case_id) for case_id in totals]
            for case in cases:
                case.total = totals[case.test_case_id]
            yield RepeatSummary(evaluator, score_id, most, cases)
