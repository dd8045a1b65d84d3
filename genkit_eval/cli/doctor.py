"""`genkit-eval doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import click

from genkit_eval.cli.options import Verb, app_option, root_option
from genkit_eval.cli.output import say, say_json
from genkit_eval.cli.session import open_app
from genkit_eval.health import Fact, check_up
from genkit_eval.loading import installed_plugins
from genkit_eval.model_check import check_model
from genkit_eval.report.documents import json_pieces
from genkit_eval.report.lines import Ink, Line, Span, blank, line
from genkit_eval.report.numbers import counted
from genkit_eval.settings import find_settings
from genkit_eval.waiting import run_sync

__all__ = ["command"]

UNWELL = 2


@click.command("doctor", cls=Verb)
@click.option("--model", metavar="NAME", help="Ask this model four small things, and say what it can do.")
@app_option
@root_option
def command(**options: Any) -> int:
    """Say which versions are installed, where datasets and runs lie and why, which files cannot be read, what is left
    over, which plugins load, and where each setting comes from.

    Makes a torn index anew, and changes nothing else. Exits with 2 when something is wrong.
    With --model it looks at that model alone: whether it answers, what it reports, which form of JSON and which
    parameters it takes. These calls are billed as any others.

    \b
    Examples:
      genkit-eval doctor
      genkit-eval doctor --model openai/gpt-4o-mini
    """
    name = options["model"]
    if name is None:
        facts = list(check_up(find_settings(options), installed_plugins()))
    else:
        facts = run_sync(check_model(open_app(options).ge.registry.model(name), name))
    bad = sum(fact.bad for fact in facts)
    if options["as_json"]:
        say_json(json_pieces({"facts": [asdict(fact) for fact in facts], "problems": bad}))
    else:
        say(_lines(facts))
    return UNWELL if bad else 0


def _lines(facts: Sequence[Fact]) -> list[Line]:
    lines: list[Line] = []
    for section, group in groupby(facts, key=lambda fact: fact.section):
        members = list(group)
        width = max(15, *(len(fact.name) for fact in members))
        lines.append(line(Span(section, Ink.STRONG)))
        for fact in members:
            mark, ink = ("! ", Ink.BAD) if fact.bad else ("  ", Ink.PLAIN)
            lines.append(line(Span(mark, ink), Span(f"{fact.name:<{width}} ", Ink.FAINT), Span(fact.value, ink)))
        lines.append(blank())
    bad = sum(fact.bad for fact in facts)
    verdict = Span("all is well", Ink.GOOD) if not bad else Span(f"{counted(bad, 'problem')}, marked with !", Ink.BAD)
    return [*lines, line(verdict)]
