"""`genkit-eval resume`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from genkit_eval.cli.evaluation import Request, carry_out, limits_of, report_of
from genkit_eval.cli.options import Verb, format_option
from genkit_eval.cli.run_options import evaluation_options
from genkit_eval.cli.samples import data_of
from genkit_eval.cli.session import models_of_run, open_app
from genkit_eval.cli.spending import budget_of
from genkit_eval.engine import limits_of as recorded_limits

__all__ = ["command"]


@click.command("resume", cls=Verb)
@click.argument("run")
@click.option("--data", metavar="FILE", help="The samples, where the run got them in code or from stdin; - for stdin.")
@format_option
@evaluation_options
def command(**options: Any) -> int:
    """Go on with an interrupted run where it stopped, then report as `run` does.

    What is finished is not done again. The samples, the target, the evaluators with their options, and the limits
    (unless given) are those that the run began with; so are judge and embedder, where no app is named. A run that is
    finished is only reported.

    \b
    Examples:
      genkit-eval resume run-20261130-093000-1a2b3c4d --app app.py:ge
      genkit-eval resume run-20261130-093000-1a2b3c4d --data questions.jsonl
    """
    report = report_of(options)
    session = open_app({**options, **models_of_run(options)})
    given = limits_of(options, session.settings)
    limits = None
    if given:
        began = recorded_limits(session.ge.runs.load(options["run"]).key)
        limits = replace(began, **given)
    data = None if options["data"] is None else data_of(options["data"], format=options["format"])
    request = Request(data=data, resume=options["run"], limits=limits, budget=budget_of(options), yes=options["yes"])
    return carry_out(session, request, report)
