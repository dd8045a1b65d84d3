"""`genkit-eval eval:run`, as in Genkit's command line."""

from __future__ import annotations

from typing import Any

import click

from genkit_eval.cli.evaluation import Request, carry_out, limits_of, report_of
from genkit_eval.cli.genkit_options import chosen_evaluators, genkit_options
from genkit_eval.cli.options import Verb, format_option
from genkit_eval.cli.run_options import evaluation_options
from genkit_eval.cli.samples import data_of
from genkit_eval.cli.session import open_app
from genkit_eval.cli.spending import budget_of
from genkit_eval.engine import Limits

__all__ = ["command"]


@click.command("eval:run", cls=Verb)
@click.argument("data")
@genkit_options
@format_option
@evaluation_options
def command(**options: Any) -> int:
    """Score the outputs in a file (or dataset) with the evaluators named, or with all there are.

    \b
    Example:
      genkit-eval eval:run out.json --evaluators genkitEval/regex,my/length
    """
    report = report_of(options)
    session = open_app(options)
    request = Request(
        data=data_of(options["data"], format=options["format"]),
        target=None,
        evaluators=chosen_evaluators(session, options["evaluators"]),
        limits=Limits(**limits_of(options, session.settings)),
        budget=budget_of(options),
        yes=options["yes"] or options["force"],
    )
    return carry_out(session, request, report)
