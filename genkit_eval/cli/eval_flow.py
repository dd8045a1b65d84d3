"""`genkit-eval eval:flow`, as in Genkit's command line."""

from __future__ import annotations

import json
from typing import Any

import click

from genkit_eval.cli.evaluation import Request, carry_out, limits_of, report_of
from genkit_eval.cli.genkit_options import chosen_evaluators, genkit_options
from genkit_eval.cli.options import Verb, format_option
from genkit_eval.cli.run_options import evaluation_options
from genkit_eval.cli.samples import data_of
from genkit_eval.cli.session import open_app
from genkit_eval.cli.spending import budget_of
from genkit_eval.datasets import as_samples
from genkit_eval.engine import Limits
from genkit_eval.errors import shortened

__all__ = ["command"]


@click.command("eval:flow", cls=Verb)
@click.argument("flow")
@click.argument("data", required=False)
@click.option("--input", "source", metavar="DATA", help="The id of a dataset, a file of samples, or -.")
@genkit_options
@format_option
@evaluation_options
def command(**options: Any) -> int:
    """Run a flow on data, and score it with the evaluators named, or with all there are.

    DATA is a JSON array of samples; --input names a dataset or a file instead.

    \b
    Examples:
      genkit-eval eval:flow answer --input questions.json
      genkit-eval eval:flow answer '[{"input": "Capital of Japan?"}]'
      genkit-eval eval:flow answer --input faq --evaluators my/length
    """
    if (options["data"] is None) == (options["source"] is None):
        raise click.UsageError("give the samples as a JSON array, or name them with --input: one of both")
    report = report_of(options)
    session = open_app(options)
    inline = options["data"] is not None
    request = Request(
        data=_inline(options["data"]) if inline else data_of(options["source"], format=options["format"]),
        target=options["flow"],
        evaluators=chosen_evaluators(session, options["evaluators"]),
        limits=Limits(**limits_of(options, session.settings)),
        budget=budget_of(options),
        yes=options["yes"] or options["force"],
    )
    return carry_out(session, request, report)


def _inline(text: str) -> Any:
    try:
        samples = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise click.UsageError(
            f"the samples are not JSON: {problem}; to name a dataset or a file, use --input"
        ) from None
    if not isinstance(samples, list):
        raise click.UsageError(f"the samples are {shortened(text)}: expected a JSON array")
    return as_samples(samples)
