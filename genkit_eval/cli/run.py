"""`genkit-eval run`."""

from __future__ import annotations

from typing import Any

import click

from genkit_eval.cli.evaluation import carry_out, report_of
from genkit_eval.cli.options import Verb, report_options
from genkit_eval.cli.run_options import check_run_options, request_of, run_options
from genkit_eval.cli.session import open_app

__all__ = ["command"]


@click.command("run", cls=Verb)
@run_options
@report_options
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
    check_run_options(options)
    report = report_of(options)
    session = open_app(options)
    return carry_out(session, request_of(options, session), report)
