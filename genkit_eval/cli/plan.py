"""`genkit-eval plan`."""

from __future__ import annotations

from typing import Any

import click

from genkit_eval.cli.consent import forecast_of
from genkit_eval.cli.numbers import whole_number
from genkit_eval.cli.options import Verb
from genkit_eval.cli.output import columns, say, say_json
from genkit_eval.cli.run_options import check_run_options, request_of, run_options
from genkit_eval.cli.samples import suggesting_files
from genkit_eval.cli.session import app_prints_to_stderr, open_app
from genkit_eval.forecast import Forecast
from genkit_eval.report.documents import json_pieces
from genkit_eval.waiting import run_sync

__all__ = ["command"]


@click.command("plan", cls=Verb)
@run_options
@click.option("--probe", type=whole_number(1), metavar="N", help="Run N cases, and estimate from what they take.")
def command(**options: Any) -> int:
    """Say what `run` with the same options would take: cases, calls of models, tokens, cost, time.

    Without --probe nothing is run: the estimate is made from the newest finished run of the same target and evaluators,
    if there is one. With --probe N, N cases are run and paid for; what judges say about them is kept in the cache, so
    that the run need not ask again.

    \b
    Examples:
      genkit-eval plan faq --target answer -e genkitEval/faithfulness
      genkit-eval plan faq --target answer -e genkitEval/faithfulness --probe 3
    """
    check_run_options(options)
    session = open_app(options)
    request = request_of(options, session)
    with app_prints_to_stderr(), session.naming_the_app(), suggesting_files(request.data):
        told = run_sync(forecast_of(session, request, probe=options["probe"] or 0))
    if options["as_json"]:
        say_json(json_pieces(_document(told)))
    else:
        say(told.lines(columns()))
    return 0


def _document(told: Forecast) -> dict[str, object]:
    return {
        "cases": told.cases,
        "evaluators": [record.evaluator for record in told.key.evaluators],
        "usage": [spent.to_json() for spent in told.usage],
        "costUsd": told.cost_usd,
        "seconds": told.seconds,
        "basis": told.basis,
        **({"lacking": list(told.lacking)} if told.lacking else {}),
        **({} if told.stopped is None else {"stopped": told.stopped}),
        "exitCode": 0,
    }
