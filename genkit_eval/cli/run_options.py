"""What `run` runs, and `plan` looks at: their options, and what they ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from genkit_eval.cli.evaluation import Request, limits_of, refs_of, routed
from genkit_eval.cli.numbers import whole_number
from genkit_eval.cli.options import (
    app_option,
    cache_options,
    format_option,
    metrics_option,
    model_options,
    repeat_options,
    report_options,
    root_option,
    route_options,
    speed_options,
    with_options,
)
from genkit_eval.cli.samples import data_of
from genkit_eval.cli.session import Session
from genkit_eval.cli.spending import budget_of, spending_options
from genkit_eval.cli.targets import target_of, target_options
from genkit_eval.engine import Limits, Repeats, Selection

__all__ = ["check_run_options", "evaluation_options", "request_of", "run_options"]

F = TypeVar("F", bound=Callable[..., Any])


def run_options(function: F) -> F:
    """DATA, and every option that says what is run, on which samples, and on what terms."""
    tags_help = "Only samples with this tag. Repeatable: any of them."
    count = whole_number(1)
    options = [
        click.argument("data"),
        app_option,
        model_options,
        cache_options,
        target_options,
        metrics_option(
            "An evaluator, with options; values are JSON, or else text. Repeatable. Default: the dataset's.",
            metavar="NAME[:OPTION=VALUE,…]",
        ),
        click.option("--tag", "tags", multiple=True, metavar="TAG", help=tags_help),
        click.option("--id", "ids", multiple=True, metavar="ID", help="Only the sample of this id. Repeatable."),
        click.option("--limit", type=count, metavar="N", help="Only the first N samples."),
        click.option("--sample", type=count, metavar="N", help="Only N samples, drawn at random."),
        click.option("--seed", type=int, metavar="N", help="Draw the same ones again. [0]"),
        route_options,
        format_option,
        repeat_options,
        speed_options,
        spending_options,
        root_option,
    ]
    return with_options(options, function)


def evaluation_options(function: F) -> F:
    """What verbs share that go on with a run, or score outputs that are there: who judges, the terms, the report."""
    options = [
        app_option,
        model_options,
        cache_options,
        speed_options,
        spending_options,
        report_options,
        root_option,
    ]
    return with_options(options, function)


def check_run_options(options: Mapping[str, Any]) -> None:
    """Refuse options that do not go together, before an app is loaded."""
    target_of(options)
    routed(refs_of(options["metrics"]), options)
    if options["seed"] is not None and options["sample"] is None:
        raise click.UsageError("--seed chooses what --sample draws: give --sample too")


def request_of(options: Mapping[str, Any], session: Session) -> Request:
    """What the options ask for."""
    return Request(
        data=data_of(options["data"], format=options["format"]),
        target=target_of(options),
        evaluators=routed(refs_of(options["metrics"]), options),
        select=Selection(options["tags"], options["ids"], options["limit"], options["sample"], options["seed"]),
        repeats=Repeats(target=options["repeats"], judge=options["judge_repeats"]),
        limits=Limits(**limits_of(options, session.settings)),
        budget=budget_of(options),
        yes=options["yes"],
    )
