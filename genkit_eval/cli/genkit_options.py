"""Options that both `eval:` verbs have because Genkit's command line has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from genkit_eval.cli.session import Session
from genkit_eval.errors import ConfigError
from genkit_eval.registry import EvaluatorRef

__all__ = ["chosen_evaluators", "genkit_options"]

F = TypeVar("F", bound=Callable[..., Any])


def genkit_options(function: F) -> F:
    """`--evaluators a,b`; `--force`, which is Genkit's `--yes`; `--batchSize` is taken and changes nothing."""
    function = click.option("--force", is_flag=True, hidden=True)(function)
    function = click.option("--batchSize", type=int, expose_value=False, hidden=True)(function)
    help_text = (
        "Names of evaluators, separated by commas. Default: all that suit any data and can run as they are set up."
    )
    return click.option("--evaluators", metavar="A,B", help=help_text)(function)


def chosen_evaluators(session: Session, names: str | None) -> list[EvaluatorRef]:
    """The evaluators named, or all there are."""
    registry = session.ge.registry
    chosen = registry.ready_evaluators if names is None else [name.strip() for name in names.split(",")]
    if not chosen:
        raise ConfigError(session.without_evaluators)
    return [EvaluatorRef(name, {}) for name in chosen if name]
