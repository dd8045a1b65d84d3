"""The models that a run will ask, as far as they are known before it, and whether a budget can be kept by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from genkit_eval.engine.asking.model_calls import TARGET
from genkit_eval.engine.plan import Plan
from genkit_eval.errors import ConfigError, GenkitEvalError
from genkit_eval.models import Embedder, Model, model_identity
from genkit_eval.prices import Price, Prices
from genkit_eval.registry import Registry

__all__ = ["AskedModel", "asked_models", "check_priced"]


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model or embedder by its name, who will ask it ("target" or an evaluator's key), and its price if known."""

    used_by: str
    name: str
    price: Price | None


def asked_models(plan: Plan, registry: Registry, prices: Prices) -> Sequence[AskedModel]:
    """Those of a target that is a model, and those that evaluators declare; a flow's own are not known."""
    found = []
    if plan.flow is not None and plan.flow.kind == "model":
        identity = _identity(registry.model, plan.flow.name)
        found.append(AskedModel(TARGET, plan.flow.name, prices.of(plan.flow.name, identity)))
    for cell in plan.cells:
        for use, name in cell.evaluator.models.items():
            find: Callable[[str], Model | Embedder] = registry.embedder if use == "embedder" else registry.model
            found.append(AskedModel(cell.key, name, prices.of(name, _identity(find, name))))
    return found


def _identity(find: Callable[[str], Model | Embedder], name: str) -> str | None:
    try:
        return model_identity(find(name))
    except GenkitEvalError:
        # a function or an object, which no registry knows
        return None


def check_priced(asked: Sequence[AskedModel]) -> None:
    """Refuse, before anything is paid for, a budget of dollars that no price would let one keep.

    Raises:
        ConfigError: the price of a model is not known.
    """
    unknown = sorted({model.name for model in asked if model.price is None})
    if unknown:
        raise ConfigError(
            f"what {' and '.join(unknown)} cost{'s' if len(unknown) == 1 else ''} is not known, and a budget of US "
            "dollars was given: name a file of prices by the setting 'prices' (in code GenkitEval(prices=…)), or give "
            "a budget of calls, tokens or seconds"
        )
