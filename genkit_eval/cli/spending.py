"""What a run may spend: the options of every verb that runs one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from genkit_eval.cli.numbers import amount, whole_number
from genkit_eval.cli.options import with_options
from genkit_eval.engine import Budget

__all__ = ["budget_of", "spending_options"]

F = TypeVar("F", bound=Callable[..., Any])

_KINDS = ("usd", "tokens", "calls", "seconds")


def spending_options(function: F) -> F:
    """`--budget-usd` and its like."""
    above_zero, whole = amount("a number above 0", above_zero=True), whole_number(1)
    options = [
        click.option("--budget-usd", type=above_zero, metavar="USD", help="Stop (exit 3) once so much is spent."),
        click.option("--budget-tokens", type=whole, metavar="N", help="The same in tokens, read and written."),
        click.option("--budget-calls", type=whole, metavar="N", help="The same in calls of models."),
        click.option("--budget-seconds", type=above_zero, metavar="S", help="The same in time. What is done is kept."),
        click.option("-y", "--yes", is_flag=True, help="Let models be paid for without asking."),
    ]
    return with_options(options, function)


def budget_of(options: Mapping[str, Any]) -> Budget | None:
    """The budget that the options give."""
    given = {kind: options[f"budget_{kind}"] for kind in _KINDS}
    return Budget(**given) if any(value is not None for value in given.values()) else None
