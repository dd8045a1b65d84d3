"""`genkit-eval show`."""

from __future__ import annotations

from typing import Any

import click

from genkit_eval.cli.options import Verb, app_option, case_options, cases_of, root_option
from genkit_eval.cli.output import columns, say, say_json
from genkit_eval.cli.session import open_stores
from genkit_eval.engine.case_filter import CaseFilter
from genkit_eval.errors import ConfigError
from genkit_eval.report.documents import json_pieces, run_document
from genkit_eval.report.lines import line
from genkit_eval.report.run_listing import NO_RUNS
from genkit_eval.report.run_report import show_lines

__all__ = ["command"]


@click.command("show", cls=Verb)
@click.argument("run", required=False)
@click.option("--all", "every", is_flag=True, help="Every case, not only the first 20 that fail.")
@click.option("--failed", "failing_only", is_flag=True, help="Only cases that are FAIL or FAILED.")
@case_options
@app_option
@root_option
def command(**options: Any) -> int:
    """Show a run: its table, then its cases, failing ones first, with what the evaluators said.

    RUN is the id of a run; without it, the newest, or the newest that has a case of the --tag, --user and --session.

    \b
    Examples:
      genkit-eval show
      genkit-eval show run-20261130-093000-1a2b3c4d --all
      genkit-eval show --failed --json
      genkit-eval show --user u7 --session s-81
    """
    runs = open_stores(options).ge.runs
    cases, wanted = cases_of(options), CaseFilter(**cases_of(options))
    newest = runs.list(limit=1, **cases) if options["run"] is None else []
    if options["run"] is None and not newest:
        raise ConfigError(f"no run has a case of {wanted}" if wanted else NO_RUNS)
    whole = run = runs.load(newest[0] if newest else options["run"])
    if wanted:
        run = whole.where(**cases)
    if options["as_json"]:
        say_json(json_pieces(run_document(run), run.failing() if options["failing_only"] else run.results))
        return 0
    if run is not whole:
        say([line(f"only cases of {wanted}: {len(run.results)} of {len(whole.results)} results")])
    say(show_lines(run, width=columns(), every=options["every"], failing_only=options["failing_only"]))
    return 0
