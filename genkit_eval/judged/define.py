"""How a judged metric becomes an evaluator: its judge, embedder and prompts, and the version they make."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from genkit_eval.definitions import Evaluator
from genkit_eval.errors import ConfigError, JudgeError, UnknownName
from genkit_eval.judge import Judge, Judgeable, as_model
from genkit_eval.judged.config import MetricConfig, PromptSource, StatusOverride, lacking
from genkit_eval.judged.embedding import Embedding
from genkit_eval.judged.metric import Instruments, JudgedMetric, NothingToJudge, side_by_side
from genkit_eval.judged.panel import Opinion, agreed, seated
from genkit_eval.prompts import Prompt
from genkit_eval.registry import Registry
from genkit_eval.types import DataPoint, Outcome, Score, Status

__all__ = ["define_judged", "digest_of"]

HOW_TO_GIVE = {
    "judge": "give {plugin}(judge=…), or --judge where no app is named, a model: 'openai/NAME' with "
    "OPENAI_API_KEY, the same with OPENAI_BASE_URL for a server of your own (llama.cpp, Ollama, vLLM), or "
    "'local/gguf:PATH' for a GGUF file",
    "embedder": "give {plugin}(embedder=…), or --embedder where no app is named, one: 'openai/NAME', or "
    "'local/use-multilingual', which needs no key",
}
NO_REASON = "the judge gave no reason"


def define_judged(registry: Registry, metric: JudgedMetric, config: MetricConfig, *, plugin: str) -> None:
    """Define a judged metric with its settings; one that lacks something is defined as needing it.

    Args:
        plugin: the function that takes the settings, as messages name it.
    """
    option = lacking(metric, config)
    use = _instruments(registry, metric, config) if option is None else None
    registry.define_evaluator(
        metric.name,
        _cannot_run if use is None else _evaluator(metric, use, config.status_override),
        options=metric.options,
        requires=metric.requires,
        direction=metric.direction,
        low=0.0,
        high=1.0,
        kind="agentic" if metric.judge else "heuristic",
        version=metric.formula if use is None else _version(metric, use, config),
        is_billed=True,
        display_name=metric.display_name,
        definition=metric.definition,
        metadata={
            **metric.metadata,
            "prompts": {**_texts(metric, use)},
            "models": {} if use is None else {**_models(use, config)},
            "reads": [*metric.reads],
            **({"panel": use.by} if use is not None and use.others else {}),
        },
        check_options=None if use is None else _check(metric, use),
        needs=option and _needs(option, plugin),
    )
    if use is not None and metric.bound is not None:
        evaluator = registry.evaluators[metric.name]
        registry.evaluators[metric.name] = replace(evaluator, made_for=_binding(evaluator, metric.bound, use, config))


def _binding(
    evaluator: Evaluator, bound: Callable[[], JudgedMetric], use: Instruments, config: MetricConfig
) -> Callable[[Any], Evaluator]:
    def made_for(options: Any) -> Evaluator:
        metric = bound()
        fn = _evaluator(metric, use, config.status_override)
        return replace(evaluator, fn=fn, declared_version=_version(metric, use, config))

    return made_for


def _needs(option: str, plugin: str) -> str:
    return f"needs {'an' if option == 'embedder' else 'a'} {option}: {HOW_TO_GIVE[option].format(plugin=plugin)}"


async def _cannot_run(point: DataPoint, options: Any) -> Score:
    """What a metric that lacks something is defined with; plans refuse it by what it needs."""
    raise ConfigError("no judge or embedder was given")


def _evaluator(
    metric: JudgedMetric, use: Instruments, override: StatusOverride | None
) -> Callable[[DataPoint, Any], Awaitable[Score]]:
    async def judge(point: DataPoint, options: Any) -> Score:
        try:
            value = await metric.read(point, options)
        except NothingToJudge as why:
            return Score.inconclusive(reason=str(why))
        if use.others:
            score = await _by_panel(metric, value, options, use)
        else:
            score = await _by_one(metric, value, options, use)
        if override is not None and score.outcome is Outcome.VERDICT:
            return score.model_copy(update={"status": Status(override(score))})
        return score

    return judge


async def _by_one(metric: JudgedMetric, value: Any, options: Any, use: Instruments) -> Score:
    try:
        score = await metric.score(value, options, use)
    except NothingToJudge as why:
        return Score.inconclusive(reason=str(why).strip() or NO_REASON)
    if not (score.reason or "").strip():
        score = score.model_copy(update={"reason": NO_REASON})
    if use.own_judge is not None and (left_out := use.own_judge.left_out):
        # the version says what was asked for, so the score has to say what was not done
        details = {**(score.details or {}), "notApplied": [*left_out]}
        score = score.model_copy(update={"details": details})
    return score


async def _by_panel(metric: JudgedMetric, value: Any, options: Any, use: Instruments) -> Score:
    async def opinion(judge: Judge) -> Opinion:
        try:
            score = await _by_one(metric, value, options, replace(use, own_judge=judge, others=()))
        except JudgeError as problem:
            score = Score.broke(str(problem))
        return Opinion(judge.name, score)

    opinions = await side_by_side([partial(opinion, judge) for judge in use.judges])
    decide = metric.decide
    return agreed(opinions, use.by, None if decide is None else lambda number: decide(number, options))


def _check(metric: JudgedMetric, use: Instruments) -> Callable[[Any], str | None]:
    def check(options: Any) -> str | None:
        try:
            use.check()
        except ConfigError as problem:
            return str(problem)
        return metric.check(options, use) if metric.check is not None else None

    return check


# --- judge, embedder and prompts ----------------------------------------------------------------------------------


def _instruments(registry: Registry, metric: JudgedMetric, config: MetricConfig) -> Instruments:
    embedder: Embedding | None = None
    if metric.embedder != "unused" and config.embedder is not None:
        embedder = Embedding(config.embedder, registry, config.embedder_options)
    judges = _judges(metric, config, registry)
    return Instruments(
        prompts=_prompts(metric, config.prompt),
        own_judge=judges[0] if judges else None,
        embedder=embedder,
        others=tuple(judges[1:]),
        by="majority" if config.judge is None else seated(config.judge).by,
    )


def _judges(metric: JudgedMetric, config: MetricConfig, registry: Registry) -> list[Judge]:
    """All that judge.

    Raises:
        ConfigError: two of the same name, whose opinions nobody could tell apart.
    """
    if not metric.judge or config.judge is None:
        return []
    parameters = dict(config.judge_config) if config.judge_config else None
    judges = [Judge(as_model(given, registry), parameters) for given in seated(config.judge).judges]
    for name, number in Counter(judge.name for judge in judges).items():
        if number > 1:
            raise ConfigError(f"judge: the panel has {number} judges of the name '{name}': name each judge once")
    return judges


def _texts(metric: JudgedMetric, use: Instruments | None) -> dict[str, str]:
    if use is not None:
        return {step: prompt.text for step, prompt in use.prompts.items()}
    return {
        step: given.text if isinstance(given, Prompt) else given.read_text(encoding="utf-8")
        for step, given in metric.prompts.items()
    }


def _prompts(metric: JudgedMetric, given: PromptSource | Mapping[str, PromptSource] | None) -> dict[str, Prompt]:
    """The metric's own prompts, with those given in their place, which must have places for the same values."""
    prompts = {
        step: given if isinstance(given, Prompt) else Prompt.load(given) for step, given in metric.prompts.items()
    }
    if given is None:
        return prompts
    if isinstance(given, Prompt | Path | str):
        if len(prompts) != 1:
            raise ConfigError(
                f"metric '{metric.bare_name}' has the prompts {', '.join(prompts)}: give prompt= a mapping of them"
            )
        given = dict.fromkeys(prompts, given)
    for step, source in given.items():
        if step not in prompts:
            raise ConfigError(f"metric '{metric.bare_name}': {UnknownName('prompt', step, prompts)}")
        own, prompt = prompts[step], source if isinstance(source, Prompt) else Prompt.load(source)
        if set(prompt.inputs) != set(own.inputs):
            places = ", ".join(sorted(prompt.inputs)) or "nothing"
            raise ConfigError(
                f"metric '{metric.bare_name}': prompt '{prompt.name}' has places for {places}; expected "
                f"{', '.join(sorted(own.inputs))}"
            )
        prompts[step] = prompt
    return prompts


# --- versions -----------------------------------------------------------------------------------------------------


def _version(metric: JudgedMetric, use: Instruments, config: MetricConfig) -> str:
    """What the score depends on: other prompts, models or parameters are another ruler."""
    parts: dict[str, JsonValue] = {
        "metric": metric.bare_name,
        "prompts": {step: prompt.digest for step, prompt in use.prompts.items()},
    }
    parts |= _models(use, config)
    if use.own_judge is not None:
        parts["judgeConfig"] = dict(use.own_judge.config or {})
    if use.others:
        parts["panel"] = use.by
    if use.embedder is not None:
        parts["embedderOptions"] = use.embedder.options
    digest = blake2b(json.dumps(parts, sort_keys=True, default=str).encode(), digest_size=6).hexdigest()
    form = "" if metric.embedder != "optional" else "-judged" if use.embedder is None else "-embedded"
    version = f"{metric.formula}{form}-{digest}"
    return version if config.status_override is None else f"{version}+status-{digest_of(config.status_override)}"


def _models(use: Instruments, config: MetricConfig) -> dict[str, str]:
    given = () if config.judge is None else seated(config.judge).judges
    models = {
        "judge" if number == 1 else f"judge {number}": _name(item, judge.name)
        for number, (item, judge) in enumerate(zip(given, use.judges, strict=False), 1)
    }
    return models if use.embedder is None else {**models, "embedder": use.embedder.name}


def _name(given: Judgeable, name: str) -> str:
    if isinstance(given, str):
        return given.removeprefix("/model/")
    return f"{name} {digest_of(given)}" if inspect.isroutine(given) else name


def digest_of(fn: Callable[..., object]) -> str:
    """A digest of a function's source, which changes when the function does."""
    try:
        source = inspect.getsource(fn)
    except (OSError, TypeError):
        # a callable object, or one typed at a prompt: its name has to do
        source = getattr(fn, "__qualname__", type(fn).__qualname__)
    return blake2b(source.encode(), digest_size=6).hexdigest()
