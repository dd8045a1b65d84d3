"""What an evaluator of this plugin is, and what all of them have in common.

A module of the plugin tells one story and ends with `EVALUATORS`, a tuple of `Heuristic`; `catalogue` lists them all.
What an evaluator saw (findings) and what that comes to (a pure `aggregate`) are two functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, ValidationInfo, field_validator

from genkit_eval import DataPoint, Finding, Outcome, Sample, Score, Status
from genkit_eval.errors import DataError, shortened
from genkit_eval.misfits import misfits
from genkit_eval.scores import EDGE

__all__ = ["MAX_FINDINGS", "Heuristic", "Options", "Thresholded", "verdict", "with_custom"]

MAX_FINDINGS, MAX_REASON = 500, 1_000
"""How many findings of a score are kept, and how many characters of its reason: run files are read by people."""


class Options(BaseModel):
    """The base of every options model: unknown options are refused, and it is built when it is first used."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_switch(cls, value: object, about: ValidationInfo) -> object:
        # true would count as 1
        if isinstance(value, bool) and cls.model_fields[str(about.field_name)].annotation is not bool:
            raise ValueError("true and false are no value for it")
        return value


class Thresholded(Options):
    """From which score on a case passes."""

    threshold: float = Field(default=0.5, ge=0, le=1, description="PASS at this score or above, FAIL below.")


O = TypeVar("O", bound=BaseModel)  # noqa: E741


@dataclass(frozen=True, slots=True, kw_only=True)
class Heuristic:
    """An evaluator that needs no model, with what its row in the README says."""

    name: str
    """With its namespace: "rule/contains_all"."""
    fn: Callable[[DataPoint, Any], bool | float | Score | Sequence[Score]]
    options: type[BaseModel]
    display_name: str
    definition: str
    """What a high score says, in a sentence."""
    formula: str
    source: str
    """Who defined it so: a system, a paper, a standard."""
    kind: Literal["deterministic", "heuristic"]
    requires: tuple[str, ...] = ()
    """Data point fields that must be present (falsy values are), else the case is inconclusive."""
    non_empty: tuple[str, ...] = ()
    """Data point fields that must hold something, else the case is inconclusive."""
    reads: tuple[str, ...] = ()
    """Further fields that it looks at where they are there."""
    custom: tuple[str, ...] = ()
    """Options that a sample may carry in `custom` under the same name; its own go before the run's."""
    direction: Literal["maximize", "minimize"] = "maximize"
    low: float | None = 0.0
    high: float | None = 1.0
    version: str = "1"
    """To be raised whenever the same data point may come to another score."""
    aliases: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    """Names that other systems have for it, each with the options by which it does as they do."""
    package: str | None = None
    """The package of the extra `text` that it cannot do without."""
    check: Callable[[Sample, Any], str | None] | None = None
    """A problem with a sample, by its own options, that is told before anything runs, or None."""
    check_options: Callable[[Any], str | None] | None = None
    """Why it cannot run with these options, or None."""


def verdict(
    value: float,
    options: Thresholded,
    *,
    reason: str,
    findings: Sequence[Finding] = (),
    details: Mapping[str, JsonValue] | None = None,
) -> Score:
    """PASS where the value reaches the threshold of the options, else FAIL.

    Of more than 500 findings those that did not pass come first, and the rest is left out; how many there were stands
    in the details. A reason of more than 1,000 characters is cut.
    """
    passed = value >= options.threshold - EDGE
    if len(findings) > MAX_FINDINGS:
        details = {**(details or {}), "findings": len(findings)}
        findings = sorted(findings, key=lambda finding: finding.passed is True)[:MAX_FINDINGS]
    values: dict[str, object] = {
        "score": value,
        "status": Status.PASS if passed else Status.FAIL,
        "outcome": Outcome.VERDICT,
        "reason": shortened(reason, MAX_REASON),
    }
    if findings:
        values["findings"] = findings
    if details:
        values["details"] = details
    return Score.trusted(values)


def with_custom(point: Sample, options: O, names: Sequence[str]) -> O:
    """The options, with those of these names that the sample carries in its `custom` in place of the run's.

    Raises:
        DataError: what the sample carries is no value for that option.
    """
    own = {name: point.custom[name] for name in names if name in point.custom} if point.custom else {}
    if not own:
        return options
    given = {name: getattr(options, name) for name in options.model_fields_set} | own
    try:
        return type(options).model_validate(given)
    except ValidationError as problem:
        [(place, message), *_] = misfits(problem, given)
        raise DataError(f"custom{'.' if place else ''}{place} of the sample: {message}") from problem
