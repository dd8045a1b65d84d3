"""Before models are paid for, somebody says so: at the terminal, by `--yes`, or by a budget."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import click

from genkit_eval.cli.output import columns, tell
from genkit_eval.cli.request import Request
from genkit_eval.cli.session import Session
from genkit_eval.definitions import Evaluator
from genkit_eval.engine import ModelTarget
from genkit_eval.engine.targets.model_target import MODEL
from genkit_eval.errors import ConfigError
from genkit_eval.forecast import Forecast, forecast
from genkit_eval.report.lines import rendered
from genkit_eval.waiting import run_sync

__all__ = ["consented", "forecast_of"]


def consented(session: Session, request: Request, evaluators: Sequence[Evaluator]) -> bool:
    """Whether what costs something may run; asked only where nothing else says it.

    Raises:
        ConfigError: nobody can be asked. Whatever keeps the run from beginning.
    """
    if request.yes or request.budget is not None or session.ge.cache == "only":
        return True
    billed = ", ".join(_billed(session, request, evaluators))
    if not billed:
        return True
    forecast_text = _forecast_text(session, request)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ConfigError(
            f"{billed} may cost money, and nobody can be asked here: give --yes, or a budget like --budget-usd 1"
        )
    for text in forecast_text:
        tell(text)
    return click.confirm(f"{billed} may cost money. Run it?", err=True)


def _billed(session: Session, request: Request, evaluators: Sequence[Evaluator]) -> Iterator[str]:
    """What would ask a model that is not free, with the model's name."""
    target = _target(session, request)
    if target is not None and target.startswith(MODEL):
        name = target.removeprefix(MODEL)
        if not _is_free(session, name):
            yield f"target {name}"
    lacking = session.ge.registry.preparations
    for evaluator in evaluators:
        if evaluator.needs is not None and evaluator.own_name not in lacking:
            # what cannot run is refused for that, not for its price
            continue
        names = [name for name in evaluator.models.values() if not _is_free(session, name)]
        if evaluator.is_billed and (names or not evaluator.models):
            yield f"{evaluator.name} ({', '.join(names)})" if names else evaluator.name


def _target(session: Session, request: Request) -> str | None:
    if request.resume is not None:
        return session.ge.runs.load(request.resume).key.action_ref
    if request.rescore is not None or request.target is None:
        return None
    if isinstance(request.target, ModelTarget):
        return MODEL + request.target.model.removeprefix(MODEL)
    if isinstance(request.target, str):
        return request.target
    return session.ge.datasets.get(request.data).metadata.target_action if isinstance(request.data, str) else None


def _is_free(session: Session, name: str) -> bool:
    price = session.ge.prices.of(name)
    return price is not None and price.is_free


def _forecast_text(session: Session, request: Request) -> Sequence[str]:
    """What is known of the run that would begin; whatever keeps it from that is said before anybody is asked."""
    if request.resume is not None or request.rescore is not None:
        return ()
    known = run_sync(forecast_of(session, request))
    return list(rendered(known.lines(columns()), colour=False))


async def forecast_of(session: Session, request: Request, *, probe: int = 0) -> Forecast:
    """What the run that is asked for would take; `probe` cases are run for that."""
    plan, source = await session.ge.plan(
        request.data,
        target=request.target,
        evaluators=request.evaluators,
        select=request.select,
        repeats=request.repeats,
    )
    terms = session.ge.terms(plan, limits=request.limits, budget=request.budget)
    return await forecast(session.ge, plan, source, terms, probe=probe)
