"""The data of an evaluation: samples, data points, scores, results and what describes them.

Everything is frozen. Attributes are snake_case, keys on disk camelCase. A field that was not given is
absent on disk; `point.has("reference")` tells "given as null" from "not given".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar, Self

from pydantic import Field, model_validator

from genkit_eval._data import Data, Json, iso_time

__all__ = [
    "Attachment",
    "DataPoint",
    "Direction",
    "EvaluatorKind",
    "Expect",
    "Finding",
    "Outcome",
    "Sample",
    "Score",
    "Status",
    "ToolCall",
    "Turn",
    "Usage",
    "iso_time",
]


class Status(StrEnum):
    """Genkit's verdict on one case."""

    UNKNOWN = "UNKNOWN"
    PASS = "PASS"
    FAIL = "FAIL"


class Outcome(StrEnum):
    """What became of one (case, evaluator, repeat)."""

    VERDICT = "VERDICT"
    """There is a score, a PASS or a FAIL."""
    UNDECIDED = "UNDECIDED"
    """The evaluator read the case and would not commit; a score may be kept."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """Nothing to read, or the measure is undefined: no score, outside the pass rate."""
    FAILED = "FAILED"
    """Target, judge or evaluator broke: no score, `error` says how."""


class Direction(StrEnum):
    """Which way a score gets better."""

    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"


class EvaluatorKind(StrEnum):
    """How an evaluator comes to its verdict: exact rules, computed estimates, or a model."""

    DETERMINISTIC = "deterministic"
    HEURISTIC = "heuristic"
    AGENTIC = "agentic"


class ToolCall(Data):
    """One call of a tool: what was asked and what came back. Its name alone will do where nothing else is told."""

    nullable: ClassVar[frozenset[str]] = frozenset({"arguments", "output"})

    name: str
    arguments: Json = None
    output: Json = None
    error: str | None = None
    id: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_name(cls, given: object) -> object:
        return {"name": given} if isinstance(given, str) else given


class Turn(Data):
    """One turn of a conversation; `role` is user, assistant, tool or system."""

    nullable: ClassVar[frozenset[str]] = frozenset({"content"})

    role: str
    content: Json = None
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str | None = None


class Attachment(Data):
    """A file that is evidence: PDF, PNG, JPEG, WEBP or SVG, of 20 MB at most. The text of a path will do.

    It is named by `path`, or stands whole in a `url` that begins with "data:". `digest` is that of its content,
    "sha256:…"; it is noted when the sample is read, so that a run says what was judged by.
    """

    path: str | None = None
    url: str | None = None
    name: str | None = None
    media_type: str | None = None
    digest: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        return {"url": given} if given[:8].lower().startswith(("data:", "https://", "http://")) else {"path": given}


class Usage(Data):
    """What answering cost: tokens, US dollars, calls of a model, seconds of them; None where it is not known.

    `cached_tokens` are those of the input that the server had read before, `written_tokens` those that it keeps for the
    next time. `cached_calls` were answered from what an earlier call had brought, `retries` were sent again; neither is
    among `model_calls`.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    written_tokens: int | None = None
    cost_usd: float | None = None
    model_calls: int | None = None
    cached_calls: int | None = None
    retries: int | None = None
    seconds: float | None = None


class Expect(Data):
    """What a right answer does: carries a label, contains phrases, or satisfies a metric."""

    label: str | None = None
    phrases: Sequence[str] | None = None
    metric: str | None = None


class Sample(Data):
    """One dataset entry: an input, what is known about the right answer, and given outputs if there are any.

    `input`, `reference` and `output` are any JSON value. `latency` is in seconds. `attachments` are evidence;
    `output_attachments` are what the answer consists of beside its output: the image or the PDF that was made.
    """

    nullable: ClassVar[frozenset[str]] = frozenset({"input", "output", "reference"})

    test_case_id: str | None = None
    input: Json = None
    output: Json = None
    error: str | None = None
    context: Sequence[Json] = ()
    reference: Json = None
    custom: Mapping[str, Json] = Field(default_factory=dict)
    trace_ids: Sequence[str] = ()
    tags: Sequence[str] = ()
    expect: Expect | None = None
    instructions: str | Sequence[str] | None = None
    expected_tools: Sequence[ToolCall] | None = None
    relevant_ids: Sequence[str] | None = None
    plan: str | Sequence[str] | None = None
    goal: str | None = None
    system_prompt: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    tool_catalog: Sequence[Json] = ()
    attachments: Sequence[Attachment] = ()
    output_attachments: Sequence[Attachment] = ()
    tools: Sequence[ToolCall] | None = None
    turns: Sequence[Turn] | None = None
    retrieved_ids: Sequence[str] | None = None
    usage: Usage | None = None
    latency: float | None = None


class DataPoint(Sample):
    """What an evaluator sees: a sample with its output (or error), context, tool calls, turns, usage, latency."""


class Finding(Data):
    """One thing an evaluator saw: a statement, a call or a phrase, with its verdict and the reason.

    `passed` is None where the finding is neither right nor wrong. `span` is [start, end) in characters.
    """

    text: str
    passed: bool | None = None
    reason: str | None = None
    category: str | None = None
    span: tuple[int, int] | None = None
    details: Mapping[str, Json] | None = None


class Score(Data):
    """What an evaluator says about one data point.

    `score` is a finite number, a boolean or a category; `id` tells several scores of one evaluator apart.
    Make one with `Score.passed`, `failed`, `scored`, `undecided`, `inconclusive` or `broke`.
    """

    id: str | None = None
    score: bool | int | float | str | None = None
    status: Status = Status.UNKNOWN
    outcome: Outcome = Outcome.VERDICT
    reason: str | None = None
    error: str | None = None
    findings: Sequence[Finding] = ()
    details: Mapping[str, Json] | None = None

    @classmethod
    def passed(cls, score: bool | float | str | None = None, *, reason: str | None = None, **more: object) -> Self:
        """PASS, with a score if there is one."""
        return cls._made(score, reason, more, status=Status.PASS)

    @classmethod
    def failed(cls, score: bool | float | str | None = None, *, reason: str | None = None, **more: object) -> Self:
        """FAIL: the answer is wrong. (An evaluator that could not work raises, or returns `broke`.)"""
        return cls._made(score, reason, more, status=Status.FAIL)

    @classmethod
    def scored(cls, score: bool | float | str, *, reason: str | None = None, **more: object) -> Self:
        """A score without PASS or FAIL; `status=` may give one."""
        return cls._made(score, reason, more)

    @classmethod
    def undecided(cls, score: bool | float | str | None = None, *, reason: str, **more: object) -> Self:
        """Read it, would not commit."""
        return cls._made(score, reason, more, outcome=Outcome.UNDECIDED)

    @classmethod
    def inconclusive(cls, *, reason: str, **more: object) -> Self:
        """Nothing to read, or the measure is undefined here: outside the pass rate, counted apart."""
        return cls._made(None, reason, more, outcome=Outcome.INCONCLUSIVE)

    @classmethod
    def broke(cls, error: str, **more: object) -> Self:
        """The measurement itself failed: no score, counted apart, visible in summary and exit code."""
        return cls._made(None, None, more, outcome=Outcome.FAILED, error=error)

    @classmethod
    def _made(cls, score: object, reason: str | None, more: Mapping[str, object], **fixed: object) -> Self:
        given = {"score": score, "reason": reason}
        return cls.model_validate({**{k: v for k, v in given.items() if v is not None}, **fixed, **more})
