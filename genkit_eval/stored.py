"""What stores keep: datasets and runs, their results, and what they are listed by.

Frozen, like all data; apart from `types`, because defining flows and evaluators needs none of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from pydantic import Field

from genkit_eval._data import Data, Json, Timestamp
from genkit_eval.types import DataPoint, Direction, EvaluatorKind, Finding, Outcome, Sample, Status, Usage

__all__ = [
    "Dataset",
    "DatasetMetadata",
    "DatasetSchema",
    "DatasetType",
    "EvalMetric",
    "EvalResult",
    "EvalRunKey",
    "EvaluatorRecord",
    "MetricInfo",
    "MetricSummary",
    "ModelUsage",
    "RunState",
    "StopCause",
    "Stopped",
    "bare_name",
]


class DatasetType(StrEnum):
    """What a dataset's inputs are for. CUSTOM is ours: Genkit's tools see UNKNOWN."""

    UNKNOWN = "UNKNOWN"
    FLOW = "FLOW"
    MODEL = "MODEL"
    EXECUTABLE_PROMPT = "EXECUTABLE_PROMPT"
    CUSTOM = "CUSTOM"


class RunState(StrEnum):
    """Whether every case of a run is done."""

    COMPLETE = "COMPLETE"
    INCOMPLETE = "INCOMPLETE"


class StopCause(StrEnum):
    """What ends a run before all its cases are done: money or time that is spent, or too many failures."""

    BUDGET = "budget"
    FAILURES = "failures"


class Stopped(Data):
    """Why a run ended early by itself."""

    cause: StopCause
    reason: str


class ModelUsage(Usage):
    """What one model cost; `used_by` is "target" or the evaluator's reference, where that is not said elsewhere."""

    model: str
    used_by: str | None = None


class EvalMetric(Data):
    """One score in a run file: Genkit's keys, and ours from `outcome` on.

    `usage` is what the judge's calls for it cost, by model; of several scores of one evaluator the first has it.
    """

    evaluator: str
    score_id: str | None = None
    score: bool | int | float | str | None = None
    status: Status | None = None
    rationale: str | None = None
    error: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    outcome: Outcome | None = None
    version: str | None = None
    findings: Sequence[Finding] = ()
    details: Mapping[str, Json] | None = None
    repeat: int | None = None
    seconds: float | None = None
    usage: Sequence[ModelUsage] = ()

    @property
    def name(self) -> str:
        """What people call it: the evaluator's bare name, and the score id where there is one."""
        return bare_name(self.evaluator, self.score_id)

    @property
    def ended(self) -> Outcome:
        """The outcome; for files of Genkit's own tools, which have none, what the other keys imply."""
        if self.outcome is not None:
            return self.outcome
        if self.error is not None:
            return Outcome.FAILED
        judged = self.score is not None or self.status in (Status.PASS, Status.FAIL)
        return Outcome.VERDICT if judged else Outcome.INCONCLUSIVE

    @property
    def fails(self) -> bool:
        """Whether it is a FAIL, or FAILED."""
        return self.status is Status.FAIL or self.ended is Outcome.FAILED


class EvalResult(DataPoint):
    """A data point with its metrics, as a run file holds it; `repeat`, from 0, where a case ran several times."""

    repeat: int | None = None
    metrics: Sequence[EvalMetric] = ()

    @property
    def target_failed(self) -> bool:
        """Whether the target broke: there is an error, and nothing was judged."""
        return self.error is not None and not self.metrics

    @property
    def fails(self) -> bool:
        """Whether the target broke, or some metric is FAIL or FAILED."""
        return self.target_failed or any(metric.fails for metric in self.metrics)


class MetricInfo(Data):
    """What a metric is called and measures, as Genkit's tools show it."""

    display_name: str = ""
    definition: str = ""


class EvaluatorRecord(Data):
    """How an evaluator took part in a run: its reference, version, options, direction and models."""

    evaluator: str
    version: str = "unversioned"
    options: Mapping[str, Json] | None = None
    direction: Direction = Direction.MAXIMIZE
    kind: EvaluatorKind | None = None
    models: Mapping[str, str] | None = None
    """The models that it asked, by what they did: judge, embedder."""
    panel: str | None = None
    """By what several judges came to one score: majority or mean."""


class MetricSummary(Data):
    """One metric (and score id) over a run. Every count is of cells; `total` is all cases of the run.

    `total = verdict + undecided + inconclusive + failed`; `pass_rate = passed / (passed + failed_status)`,
    None without a PASS or FAIL; `mean` is over the `scored` numeric scores, `distribution` counts categories.
    """

    evaluator: str
    score_id: str | None = None
    total: int = 0
    verdict: int = 0
    undecided: int = 0
    inconclusive: int = 0
    failed: int = 0
    passed: int = 0
    failed_status: int = 0
    scored: int = 0
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    distribution: Mapping[str, int] | None = None
    distinct: int | None = None
    direction: Direction = Direction.MAXIMIZE

    @property
    def name(self) -> str:
        """What people call it: the evaluator's bare name, and the score id where there is one."""
        return bare_name(self.evaluator, self.score_id)

    @property
    def pass_rate(self) -> float | None:
        """PASS / (PASS + FAIL), or None when there is neither."""
        judged = self.passed + self.failed_status
        return self.passed / judged if judged else None


class EvalRunKey(Data):
    """What a run is listed by: Genkit's keys, and ours from `state` on."""

    eval_run_id: str
    created_at: Timestamp
    metric_summaries: Sequence[Mapping[str, Json]] = ()
    metrics_metadata: Mapping[str, MetricInfo] = Field(default_factory=dict)
    dataset_id: str | None = None
    dataset_version: int | None = None
    action_ref: str | None = None
    action_config: Json = None
    action_version: str | None = None
    state: RunState = RunState.COMPLETE
    revision: int = 1
    case_count: int | None = None
    target_errors: int | None = None
    seconds: float | None = None
    evaluators: Sequence[EvaluatorRecord] = ()
    summary: Sequence[MetricSummary] = ()
    source: Mapping[str, Json] | None = None
    limits: Mapping[str, Json] | None = None
    parent: str | None = None
    """The run whose outputs it judges once more."""
    repeats: Mapping[str, Json] | None = None
    budget: Mapping[str, Json] | None = None
    stopped: Stopped | None = None
    choices: Mapping[str, Json] | None = None
    """What its evaluators settled on by the first reply, and go by to its end."""
    cache: str | None = None
    """"off" or "only", where judges' replies were not taken from the cache as usual."""
    usage: Sequence[ModelUsage] = ()
    unbilled: Sequence[ModelUsage] | None = None
    """What of the usage of a run that ended early stands on no result, and in no reply that is kept."""


class DatasetSchema(Data):
    """JSON Schemas that a dataset's inputs and references obey."""

    input_schema: Mapping[str, Json] | None = None
    reference_schema: Mapping[str, Json] | None = None


class DatasetMetadata(Data):
    """What a dataset is listed by."""

    dataset_id: str
    # the key on disk is "schema", a name that pydantic's models use themselves
    json_schema: DatasetSchema | None = Field(default=None, alias="schema")
    target_action: str | None = None
    metric_refs: Sequence[str] = ()
    size: int = 0
    version: int = 1
    dataset_type: DatasetType = DatasetType.UNKNOWN
    create_time: Timestamp
    update_time: Timestamp


class Dataset(Data):
    """One version of a dataset: what describes it, and its samples in order."""

    metadata: DatasetMetadata
    samples: Sequence[Sample] = ()

    def __len__(self) -> int:
        return len(self.samples)


def bare_name(evaluator: str, score_id: str | None) -> str:
    """What people call a metric: the evaluator's name without its prefix, and the score id where there is one."""
    name = evaluator.removeprefix("/evaluator/")
    return f"{name}/{score_id}" if score_id else name
