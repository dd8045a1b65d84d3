"""`genkit-eval rescore`."""

from __future__ import annotations

from typing import Any

import click

from genkit_eval.cli.evaluation import Request, carry_out, limits_of, refs_of, report_of
from genkit_eval.cli.options import Verb, judge_repeats_option, metrics_option
from genkit_eval.cli.run_options import evaluation_options
from genkit_eval.cli.session import models_of_run, open_app
from genkit_eval.cli.spending import budget_of
from genkit_eval.engine import Limits, Repeats

__all__ = ["command"]


@click.command("rescore", cls=Verb)
@click.argument("run")
@metrics_option(
    "An evaluator, with options; values are JSON, or else text. Repeatable. Default: those of the run.",
    metavar="NAME[:OPTION=VALUE,…]",
)
@judge_repeats_option
@evaluation_options
def command(**options: Any) -> int:
    """Judge the stored outputs of a finished run once more, then report as `run` does.

    The target is not called. What comes of it is a new run, which names RUN as its parent and can be resumed. Judge
    and embedder are those of the run, unless others are set or an app is named.

    \b
    Examples:
      genkit-eval rescore run-20261130-093000-1a2b3c4d -e genkitEval/regex
      genkit-eval rescore run-20261130-093000-1a2b3c4d --judge openai/NAME
    """
    report = report_of(options)
    evaluators = refs_of(options["metrics"])
    session = open_app({**options, **models_of_run(options)})
    request = Request(
        rescore=options["run"],
        evaluators=evaluators,
        limits=Limits(**limits_of(options, session.settings)),
        budget=budget_of(options),
        yes=options["yes"],
        repeats=Repeats(judge=options["judge_repeats"]),
    )
    return carry_out(session, request, report)
