"""Measure whether an LLM flow got better: evaluators, datasets, runs and reports.

`import genkit_eval` loads nothing; each public name is loaded from its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from genkit_eval._json import json_text
    from genkit_eval.app import FROM_DATASET, GenkitEval
    from genkit_eval.engine import (
        Budget,
        Combination,
        CommandTarget,
        EvalRun,
        HttpTarget,
        Limits,
        ModelLimits,
        ModelTarget,
        Progress,
        Repeats,
        Selection,
        TargetResult,
        all_of,
        any_of,
        gate,
        negate,
        record_attachment,
        record_context,
        record_plan,
        record_retrieved,
        record_tool_call,
        record_turn,
        record_usage,
        route,
        weighted,
    )
    from genkit_eval.errors import (
        AlreadyExists,
        ConfigError,
        CorruptFile,
        DataError,
        DataFileError,
        DuplicateName,
        GenkitEvalError,
        InvalidId,
        InvalidOptions,
        JudgeError,
        ModelError,
        NotFound,
        NotGiven,
        NotJson,
        RunConflict,
        RunInUse,
        StoreError,
        TargetError,
        UnknownName,
        Unprepared,
        VersionConflict,
    )
    from genkit_eval.judge import Judge
    from genkit_eval.models import Embedder, Image, Message, Model, Reply, TokenLogprob
    from genkit_eval.prices import Price
    from genkit_eval.prompts import Prompt
    from genkit_eval.registry import EvaluatorFormat, EvaluatorRef, FileEvaluator, Plugin, Preparation, Registry
    from genkit_eval.stats import CaseVerdict
    from genkit_eval.stored import (
        Dataset,
        DatasetMetadata,
        DatasetSchema,
        DatasetType,
        EvalMetric,
        EvalResult,
        EvalRunKey,
        MetricSummary,
        RunState,
        StopCause,
        Stopped,
    )
    from genkit_eval.stores import ANY_VERSION, DatasetStore, EvalStore, LocalFileDatasetStore, LocalFileEvalStore
    from genkit_eval.types import (
        Attachment,
        DataPoint,
        Direction,
        EvaluatorKind,
        Expect,
        Finding,
        Outcome,
        Sample,
        Score,
        Status,
        ToolCall,
        Turn,
        Usage,
    )
    from genkit_eval.waiting import run_sync

_HOME = {
    "_json": "json_text",
    "app": "FROM_DATASET GenkitEval",
    "engine": "Budget CommandTarget ModelTarget Combination all_of any_of gate negate route weighted "
    "DataFile EvalRun HttpTarget Limits ModelLimits Progress Repeats Selection TargetResult record_attachment "
    "record_context record_plan record_retrieved record_tool_call record_turn record_usage",
    "errors": "AlreadyExists ConfigError CorruptFile DataError DataFileError DuplicateName GenkitEvalError InvalidId "
    "InvalidOptions JudgeError ModelError NotFound NotGiven NotJson RunConflict RunInUse StoreError "
    "TargetError UnknownName Unprepared VersionConflict",
    "judge": "Judge",
    "models": "Embedder Image Message Model Reply TokenLogprob",
    "prices": "Price",
    "prompts": "Prompt",
    "registry": "EvaluatorFormat EvaluatorRef FileEvaluator Plugin Preparation Registry",
    "stats": "CaseVerdict",
    "stores": "ANY_VERSION DatasetStore EvalStore LocalFileDatasetStore LocalFileEvalStore",
    "stored": "Dataset DatasetMetadata DatasetSchema DatasetType EvalMetric EvalResult EvalRunKey MetricSummary "
    "RunState StopCause Stopped",
    "types": "Attachment DataPoint Direction EvaluatorKind Expect Finding Outcome Sample Score Status ToolCall "
    "Turn Usage",
    "waiting": "run_sync",
}
_MODULE = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [
    "ANY_VERSION",
    "FROM_DATASET",
    "AlreadyExists",
    "Attachment",
    "Budget",
    "CaseVerdict",
    "Combination",
    "CommandTarget",
    "ConfigError",
    "CorruptFile",
    "DataError",
    "DataFile",
    "DataFileError",
    "DataPoint",
    "Dataset",
    "DatasetMetadata",
    "DatasetSchema",
    "DatasetStore",
    "DatasetType",
    "Direction",
    "DuplicateName",
    "Embedder",
    "EvalMetric",
    "EvalResult",
    "EvalRun",
    "EvalRunKey",
    "EvalStore",
    "EvaluatorFormat",
    "EvaluatorKind",
    "EvaluatorRef",
    "Expect",
    "FileEvaluator",
    "Finding",
    "GenkitEval",
    "GenkitEvalError",
    "HttpTarget",
    "Image",
    "InvalidId",
    "InvalidOptions",
    "Judge",
    "JudgeError",
    "Limits",
    "LocalFileDatasetStore",
    "LocalFileEvalStore",
    "Message",
    "MetricSummary",
    "Model",
    "ModelError",
    "ModelLimits",
    "ModelTarget",
    "NotFound",
    "NotGiven",
    "NotJson",
    "Outcome",
    "Plugin",
    "Preparation",
    "Price",
    "Progress",
    "Prompt",
    "Registry",
    "Repeats",
    "Reply",
    "RunConflict",
    "RunInUse",
    "RunState",
    "Sample",
    "Score",
    "Selection",
    "Status",
    "StopCause",
    "Stopped",
    "StoreError",
    "TargetError",
    "TargetResult",
    "TokenLogprob",
    "ToolCall",
    "Turn",
    "UnknownName",
    "Unprepared",
    "Usage",
    "VersionConflict",
    "all_of",
    "any_of",
    "gate",
    "json_text",
    "negate",
    "record_attachment",
    "record_context",
    "record_plan",
    "record_retrieved",
    "record_tool_call",
    "record_turn",
    "record_usage",
    "route",
    "run_sync",
    "weighted",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    module = _MODULE.get(name)
    if module is None:
        raise AttributeError(f"module 'genkit_eval' has no attribute '{name}'")
    value = getattr(import_module(f"genkit_eval.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
