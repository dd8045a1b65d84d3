"""`genkit-eval list`."""

from __future__ import annotations

from typing import Any

import click

from genkit_eval.cli.numbers import whole_number
from genkit_eval.cli.options import Verb, app_option, case_options, cases_of, root_option
from genkit_eval.cli.output import columns, say, say_json, tell
from genkit_eval.cli.session import open_stores
from genkit_eval.cli.targets import target_name
from genkit_eval.report.documents import json_pieces, key_document
from genkit_eval.report.lines import line
from genkit_eval.report.run_listing import NO_RUNS, run_listing

__all__ = ["command"]

UNREADABLE = 2


@click.command("list", cls=Verb)
@click.option("--dataset", metavar="ID", help="Only runs of this dataset.")
@click.option("-t", "--target", metavar="TARGET", help="Only runs of this target.")
@case_options
@click.option("--limit", type=whole_number(1), metavar="N", help="Only the newest N.")
@app_option
@root_option
def command(**options: Any) -> int:
    """List the runs, newest first, with their pass rates or means; interrupted ones and unreadable files too.

    With --tag, --user or --session: those that have such a case; the rates are of all their cases.

    Exits with 2 when a run file cannot be read; the others are listed all the same.

    \b
    Examples:
      genkit-eval list
      genkit-eval list --dataset faq --limit 5
      genkit-eval list --tag billing --session s-81
      genkit-eval list --json
    """
    runs = open_stores(options).ge.runs
    target = target_name(options["target"]) if options["target"] else None
    cases = cases_of(options)
    keys = runs.list(target=target, dataset_id=options["dataset"], limit=options["limit"], **cases)
    unreadable = runs.unreadable()
    keys = [key for key in keys if key.eval_run_id not in unreadable]
    if options["as_json"]:
        broken = {name: str(problem) for name, problem in unreadable.items()}
        say_json(json_pieces({"runs": [key_document(key) for key in keys], "unreadable": broken}))
    elif keys or unreadable:
        say(run_listing(keys, unreadable, width=columns()))
    else:
        asked = any(cases.values()) or target or options["dataset"]
        say([line("no such run" if asked else NO_RUNS)])
    for problem in unreadable.values():
        tell(f"unreadable: {problem}")
    return UNREADABLE if unreadable else 0
