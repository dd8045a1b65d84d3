"""One score of a run: its JSON as the run file holds it, and what the counts need of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from genkit_eval._json import dump
from genkit_eval.engine.calls import LONGEST_ERROR
from genkit_eval.scores import as_scores
from genkit_eval.stored import ModelUsage
from genkit_eval.types import Outcome, Score

__all__ = ["Counted", "Metric", "PlainVerdicts", "counted", "metric_from", "metric_of"]

Counted = tuple[str, object, str, str, str | None, bool]
"""Evaluator, score, status, outcome, score id, and whether it is an error: what `Tally.count` takes."""


class Metric(NamedTuple):
    """The JSON form of an EvalMetric is made once, when the evaluator has spoken."""

    text: bytes
    counted: Counted
    seconds: float

    @property
    def evaluator(self) -> str:
        """Who spoke."""
        return self.counted[0]

    @property
    def failed(self) -> bool:
        """Whether the evaluator broke."""
        return self.counted[3] == Outcome.FAILED

    def costing(self, usage: Sequence[ModelUsage]) -> Metric:
        """The same, with what it cost, by model."""
        costs = dump([spent.to_json() for spent in usage])
        return self._replace(text=b'%b,"usage":%b}' % (self.text[:-1], costs))


class PlainVerdicts:
    """The metrics of an evaluator that says no more than True or False: all but the time is known before."""

    __slots__ = ("_false", "_true")

    def __init__(self, key: str, version: str) -> None:
        self._true, self._false = (_without_time(key, version, as_scores(value)[0]) for value in (True, False))

    def metric(self, value: object, seconds: float) -> Metric:
        """The metric of True or False."""
        text, counts = self._true if value is True else self._false
        # as Metric(…) does it, without a call of Python's on the way
        return tuple.__new__(Metric, (b'%b,"seconds":%.6f}' % (text, seconds), counts, seconds))


def _without_time(key: str, version: str, score: Score) -> tuple[bytes, Counted]:
    form = _form(key, version, score)
    return dump(form)[:-1], counted(form)


def metric_of(key: str, version: str, score: Score, seconds: float) -> Metric:
    """The metric of any score."""
    form = _form(key, version, score)
    form["seconds"] = round(seconds, 6)
    return Metric(dump(form), counted(form), seconds)


def metric_from(form: Mapping[str, Any]) -> Metric:
    """A metric out of a journal."""
    return Metric(dump(form), counted(form), form.get("seconds", 0.0))


def counted(form: Mapping[str, Any]) -> Counted:
    """What the counts need of a metric in its form on disk."""
    get = form.get
    return form["evaluator"], get("score"), form["status"], form["outcome"], get("scoreId"), "error" in form


def _form(key: str, version: str, score: Score) -> dict[str, Any]:
    values = score.__dict__
    form: dict[str, Any] = {"evaluator": key}
    if values["id"] is not None:
        form["scoreId"] = values["id"]
    if values["score"] is not None:
        form["score"] = values["score"]
    # plain text: members of an enumeration are slower to write and to count
    form["status"] = values["status"].value
    if values["reason"] is not None:
        form["rationale"] = values["reason"]
    if values["error"] is not None:
        form["error"] = values["error"][:LONGEST_ERROR]
    elif values["outcome"] is Outcome.FAILED:
        form["error"] = values["reason"] or "the evaluator gave no reason"
    form["outcome"] = values["outcome"].value
    form["version"] = version
    if values["findings"]:
        form["findings"] = [finding.to_json() for finding in values["findings"]]
    if values["details"]:
        form["details"] = dict(values["details"])
    return form
