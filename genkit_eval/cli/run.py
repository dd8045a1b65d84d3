"""`genkit-eval run`."""

from __future__ import annotations

from typing import Any

import click

from genkit_eval.cli.evaluation import Request, carry_out, limits_of, refs_of, report_of, routed
from genkit_eval.cli.options import (
    Verb,
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
)
from genkit_eval.cli.samples import data_of
from genkit_eval.cli.session import open_app
from genkit_eval.cli.spending import budget_of, spending_options
from genkit_eval.cli.targets import target_of, target_options
from genkit_eval.engine import Limits, Repeats, Selection

__all__ = ["command"]


@click.command("run", cls=Verb, short_help="Run samples through a target and score every output.")
@click.argument("data")
@app_option
@model_options
@cache_options
@target_options
@metrics_option(
    "An evaluator, with options; values are JSON, or else text. Repeatable. Default: the dataset's.",
    metavar="NAME[:OPTION=VALUE,…]",
)
@click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="Only samples with this tag. Repeatable: any of them."
)
@click.option("--id", "ids", multiple=True, metavar="ID", help="Only the sample of this id. Repeatable.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples.")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Only N samples, drawn at random.")
@click.option("--seed", type=int, metavar="N", help="Draw the same ones again. [0]")
@route_options
@format_option
@repeat_options
@speed_options
@spending_options
@report_options
@root_option
def command(**options: Any) -> int:
    """Run samples through a target, score every output, print the table.

    DATA is the id of a dataset, a file of samples (.json .jsonl .csv .tsv .yaml), or - for stdin with --format.

    \b
    Examples:
      genkit-eval run questions.jsonl --app app.py:ge --target answer \\
          -e genkitEval/regex -e custom/length:limit=80
      genkit-eval run faq --fail-under genkitEval/regex=0.9
      genkit-eval run faq --target http://127.0.0.1:8000/answer \\
          --target-request '{"question": $}' --target-response answer
      genkit-eval run answers.csv -e genkitEval/deep_equal --output scores.csv
      genkit-eval run answers.csv -e genkitEval/faithfulness --judge openai/NAME
      genkit-eval run faq --route --route-judge genkitEval/answer_accuracy
      cat new.jsonl | genkit-eval run - --format jsonl -e genkitEval/regex

    \b
    Exit codes: 0 passed; 1 more FAILED cells than --max-failed, --max-failures
    reached, or nothing was judged; 2 usage or data error; 3 a budget is spent;
    100 a gate was missed; 130 interrupted.
    """
    target = target_of(options)
    if options["seed"] is not None and options["sample"] is None:
        raise click.UsageError("--seed chooses what --sample draws: give --sample too")
    report = report_of(options)
    evaluators = routed(refs_of(options["metrics"]), options)
    session = open_app(options)
    request = Request(
        data=data_of(options["data"], format=options["format"]),
        target=target,
        evaluators=evaluators,
        select=Selection(options["tags"], options["ids"], options["limit"], options["sample"], options["seed"]),
        repeats=Repeats(target=options["repeats"], judge=options["judge_repeats"]),
        limits=Limits(**limits_of(options, session.settings)),
        budget=budget_of(options),
    )
    return carry_out(session, request, report)
