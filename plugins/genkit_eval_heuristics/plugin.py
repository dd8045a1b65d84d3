"""The plugin: how what a `Heuristic` says becomes an evaluator of the registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from genkit_eval import DataPoint, Plugin, Registry, Sample
from genkit_eval.errors import DataError
from genkit_eval_heuristics.catalogue import HEURISTICS
from genkit_eval_heuristics.definition import Heuristic, with_custom

__all__ = ["heuristics"]


def heuristics(*, more: Sequence[Heuristic] = ()) -> Plugin:
    """The plugin that defines all evaluators of the catalogue, and `more` of your own that are made the same way."""

    def setup(registry: Registry) -> None:
        for heuristic in (*HEURISTICS, *more):
            _define(registry, heuristic)

    return Plugin("heuristics", setup, "Evaluators that need no model: rule/, heuristic/, budget/, retrieval/")


def _define(registry: Registry, heuristic: Heuristic) -> None:
    registry.define_evaluator(
        heuristic.name,
        _reading_custom(heuristic) if heuristic.custom else heuristic.fn,
        options=heuristic.options,
        requires=heuristic.requires,
        non_empty=heuristic.non_empty,
        direction=heuristic.direction,
        low=heuristic.low,
        high=heuristic.high,
        kind=heuristic.kind,
        version=heuristic.version,
        display_name=heuristic.display_name,
        definition=heuristic.definition,
        metadata={
            "reads": [*dict.fromkeys((*heuristic.requires, *heuristic.non_empty, *heuristic.reads))],
            "formula": heuristic.formula,
            "source": heuristic.source,
            "custom": [*heuristic.custom],
            # most of them would fail or have nothing to say about data that is not made for them
            "onRequest": True,
        },
        check=_checking_custom(heuristic) if heuristic.custom else heuristic.check,
        check_options=heuristic.check_options,
        needs=_lacking(heuristic.package),
    )
    for alias, presets in heuristic.aliases.items():
        registry.define_alias(alias, heuristic.name, **presets)


def _reading_custom(heuristic: Heuristic) -> Callable[[DataPoint, Any], Any]:
    return partial(_with_own_options, heuristic.fn, heuristic.custom)


def _with_own_options(fn: Callable[..., Any], names: Sequence[str], point: DataPoint, options: Any) -> Any:
    return fn(point, with_custom(point, options, names))


def _checking_custom(heuristic: Heuristic) -> Callable[[Sample, Any], str | None]:
    def problem(sample: Sample, options: Any) -> str | None:
        try:
            own = with_custom(sample, options, heuristic.custom)
        except DataError as fault:
            return str(fault)
        # those of the run have been looked at once for all samples
        told = heuristic.check_options(own) if own is not options and heuristic.check_options is not None else None
        return told or (heuristic.check(sample, own) if heuristic.check is not None else None)

    return problem


def _lacking(package: str | None) -> str | None:
    if package is None or find_spec(package) is not None:
        return None
    return f"needs the package {package}: pip install 'genkit-eval[text]'"
