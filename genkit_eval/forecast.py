"""What a run would take, before anything is spent: cases, calls, tokens, cost and time."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from genkit_eval.app import GenkitEval
from genkit_eval.engine import (
    AskedModel,
    Means,
    Plan,
    Selection,
    Source,
    Terms,
    asked_models,
    new_key,
    run_cases,
    source_of,
)
from genkit_eval.prices import Price
from genkit_eval.report.forecast_lines import forecast_lines
from genkit_eval.report.lines import Line
from genkit_eval.stored import EvalResult, EvalRunKey, ModelUsage, RunState, Stopped
from genkit_eval.stores import LocalFileEvalStore
from genkit_eval.types import Outcome

__all__ = ["Forecast", "forecast"]

log = logging.getLogger(__name__)

LOOKED_THROUGH = 20


@dataclass(frozen=True, slots=True)
class Forecast:
    """An estimate. What is not known is None, in `usage` too; `basis` says what it was made from, if anything."""

    key: EvalRunKey
    """As the run would begin."""
    usage: Sequence[ModelUsage]
    seconds: float | None = None
    basis: str | None = None
    lacking: Sequence[str] = ()
    """Evaluators for which a call before the first case makes something that is kept; the usage does not hold it."""
    stopped: str | None = None
    """Why the probe was ended before all of its cases were, so that it tells nothing."""

    @property
    def cases(self) -> int:
        """How many results the run would have."""
        return self.key.case_count or 0

    @property
    def cost_usd(self) -> float | None:
        """All of it in US dollars; None where a part is not known."""
        costs = [spent.cost_usd for spent in self.usage]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def lines(self, width: int) -> Iterator[Line]:
        """As it is said on a terminal."""
        return forecast_lines(
            self.key,
            self.usage,
            seconds=self.seconds,
            basis=self.basis,
            stopped=self.stopped,
            lacking=self.lacking,
            width=width,
        )


async def forecast(ge: GenkitEval, plan: Plan, source: Source, terms: Terms, *, probe: int = 0) -> Forecast:
    """Estimate from so many cases that are run now, else from an earlier run alike, else say what is known.

    The probe asks models like any run, within the budget of `terms`; judges' replies are kept in the cache, so that the
    run need not ask again. It leaves no run behind.
    """
    key = new_key(plan, source, terms)
    asked = asked_models(plan, ge.registry, terms.prices)
    unknown = [ModelUsage.model_validate({"used_by": model.used_by, "model": model.name}) for model in asked]
    found = await _probed(ge, plan, source, terms, probe) if probe else _earlier(ge, plan, key, asked)
    lacking = () if probe else plan.lacking
    if found is None or isinstance(found, Stopped):
        return Forecast(key, unknown, lacking=lacking, stopped=None if found is None else found.reason)
    usage, cases, seconds, basis = found
    share = source.count / cases
    told = [_scaled(spent, share) for spent in usage]
    named = {(spent.used_by, spent.model) for spent in told}
    silent = [model for model in unknown if (model.used_by, model.model) not in named]
    return Forecast(key, [*told, *silent], None if seconds is None else seconds * share, basis, lacking)


_Found = tuple[Sequence[ModelUsage], int, float | None, str]
"""What so many cases took, and which ones they were."""


async def _probed(ge: GenkitEval, plan: Plan, source: Source, terms: Terms, count: int) -> _Found | Stopped:
    samples = list(source.samples())
    step = max(1, len(samples) // count)
    # all over the data: what comes first may be short
    chosen = source_of(ge.datasets.store, samples[::step][:count], Selection()).repeated(source.repeats)
    with TemporaryDirectory() as folder, Means(terms) as means:
        # what it costs is paid once, however many cases there are
        plan, told = await ge.prepared(plan, means)
        for notice in told:
            log.warning("%s", notice)
        journal = LocalFileEvalStore(Path(folder)).begin(new_key(plan, chosen, terms))
        began = monotonic()
        run = await run_cases(plan, chosen, journal, means, progress=lambda _: None)
        took = monotonic() - began
        done, failed = len(run.results), sum(_failed(result) for result in run.failing())
    if run.key.stopped is not None:
        return run.key.stopped
    # the last cases of a run are few, and leave places empty: so many at once were busy
    busy = min(terms.limits.max_concurrency, source.count) / min(terms.limits.max_concurrency, chosen.count)
    cases = f"{done} probe case{'' if done == 1 else 's'}" + (f", of which {failed} FAILED" if failed else "")
    spent = run.key.usage
    if ge.cache == "only" or not any(part.cached_calls for part in spent):
        return spent, max(done, 1), took / busy, cases
    # the time of those calls is not known
    return [_uncached(part) for part in spent], max(done, 1), None, f"{cases}, as if the cache had answered none"


def _failed(result: EvalResult) -> bool:
    return result.error is not None or any(metric.ended is Outcome.FAILED for metric in result.metrics)


def _earlier(ge: GenkitEval, plan: Plan, key: EvalRunKey, asked: Sequence[AskedModel]) -> _Found | None:
    """The newest finished run of the same target with the same evaluators, their versions included."""
    prices = {(model.used_by, model.name): model.price for model in asked}
    wanted = {(cell.key, cell.version) for cell in plan.cells}
    for listed in ge.runs.store.list(action_ref=key.action_ref, limit=LOOKED_THROUGH, incomplete=False):
        then = ge.runs.load(listed).key
        rulers = {(record.evaluator, record.version) for record in then.evaluators}
        alike = then.action_ref == key.action_ref and then.repeats == key.repeats and wanted <= rulers
        if alike and then.state is RunState.COMPLETE and then.case_count:
            asked_by = {"target", *(cell.key for cell in plan.cells)}
            usage = [_uncached(_repriced(spent, prices)) for spent in then.usage if spent.used_by in asked_by]
            cached = any(spent.cached_calls for spent in then.usage)
            return usage, then.case_count, None if cached else then.seconds, f"run {then.eval_run_id}"
    return None


def _repriced(spent: ModelUsage, prices: Mapping[tuple[str, str], Price | None]) -> ModelUsage:
    """At what its model costs now; what a flow reports of itself stays."""
    asked = spent.used_by or "", spent.model
    if asked not in prices:
        return spent
    price = prices[asked]
    values = {name: getattr(spent, name) for name in spent.model_fields_set}
    return ModelUsage.trusted({**values, "cost_usd": None if price is None else price.of(spent)})


def _uncached(spent: ModelUsage) -> ModelUsage:
    """As it would have been if no call had been answered from the cache."""
    asked, cached = spent.model_calls or 0, spent.cached_calls or 0
    if not cached:
        return spent
    if not asked:
        return ModelUsage.model_validate({"used_by": spent.used_by, "model": spent.model, "model_calls": cached})
    return _scaled(spent, (asked + cached) / asked)


def _scaled(spent: ModelUsage, share: float) -> ModelUsage:
    """So many times as much; counts are rounded up."""
    values: dict[str, object] = {"model": spent.model, "used_by": spent.used_by}
    for name in ("input_tokens", "output_tokens", "cached_tokens", "written_tokens", "model_calls"):
        count = getattr(spent, name)
        if count is not None:
            values[name] = math.ceil(count * share - 1e-9)
    for name in ("cost_usd", "seconds"):
        amount = getattr(spent, name)
        if amount is not None:
            values[name] = amount * share
    return ModelUsage.trusted(values)
