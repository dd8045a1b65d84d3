"""The engine: plan a run, infer, score, keep the journal, resume."""

from __future__ import annotations

from genkit_eval.engine.asked_models import AskedModel, asked_models, check_priced
from genkit_eval.engine.asking.budget import Budget
from genkit_eval.engine.asking.kept_replies import CacheUse, checked_use
from genkit_eval.engine.asking.limits import Limits
from genkit_eval.engine.asking.means import Means, Terms
from genkit_eval.engine.asking.model_limits import ModelLimits
from genkit_eval.engine.combination import Combination, all_of, any_of, gate, negate, weighted
from genkit_eval.engine.combined import define_combination
from genkit_eval.engine.evaluate import OnProgress, new_key, run_cases
from genkit_eval.engine.given import own_target, plan_for, recorded_source, source_of
from genkit_eval.engine.plan import Plan, make_plan
from genkit_eval.engine.repeats import Repeats, repeats_of
from genkit_eval.engine.rescore import recorded_refs, rescore_key, rescore_plan, stored_outputs
from genkit_eval.engine.resume import changed_flow, check_same_plan, limits_of, recorded_plan
from genkit_eval.engine.routing import define_route, route
from genkit_eval.engine.run import EvalRun, Progress
from genkit_eval.engine.score import score_point
from genkit_eval.engine.source import (
    DataFile,
    Selection,
    Source,
    sample_problems,
)
from genkit_eval.engine.targets.command_target import CommandTarget
from genkit_eval.engine.targets.http_target import HttpTarget
from genkit_eval.engine.targets.model_target import ModelTarget
from genkit_eval.engine.targets.recording import (
    TargetResult,
    record_attachment,
    record_context,
    record_plan,
    record_retrieved,
    record_tool_call,
    record_turn,
    record_usage,
)
from genkit_eval.engine.targets.target import is_address
from genkit_eval.off_loop import off_loop

__all__ = [
    "AskedModel",
    "Budget",
    "CacheUse",
    "Combination",
    "CommandTarget",
    "DataFile",
    "EvalRun",
    "HttpTarget",
    "Limits",
    "Means",
    "ModelLimits",
    "ModelTarget",
    "OnProgress",
    "Plan",
    "Progress",
    "Repeats",
    "Selection",
    "Source",
    "TargetResult",
    "Terms",
    "all_of",
    "any_of",
    "asked_models",
    "changed_flow",
    "check_priced",
    "check_same_plan",
    "checked_use",
    "define_combination",
    "define_route",
    "gate",
    "is_address",
    "limits_of",
    "make_plan",
    "negate",
    "new_key",
    "off_loop",
    "own_target",
    "plan_for",
    "record_attachment",
    "record_context",
    "record_plan",
    "record_retrieved",
    "record_tool_call",
    "record_turn",
    "record_usage",
    "recorded_plan",
    "recorded_refs",
    "recorded_source",
    "repeats_of",
    "rescore_key",
    "rescore_plan",
    "route",
    "run_cases",
    "sample_problems",
    "score_point",
    "source_of",
    "stored_outputs",
    "weighted",
]
