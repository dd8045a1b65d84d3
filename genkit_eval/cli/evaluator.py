"""`genkit-eval evaluator`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from pydantic import JsonValue

from genkit_eval.cli.asked_prompts import say_what_it_asks
from genkit_eval.cli.evaluator_verbs import export_evaluator, import_evaluators, new_evaluator, say_schema
from genkit_eval.cli.help import VerbGroup
from genkit_eval.cli.option_lines import option_lines
from genkit_eval.cli.options import Verb, app_option, format_option, model_options, root_option
from genkit_eval.cli.output import columns, say, say_json
from genkit_eval.cli.prepared import open_with_judge, prepared_evaluator
from genkit_eval.cli.session import open_app
from genkit_eval.definitions import Evaluator
from genkit_eval.report.documents import json_pieces
from genkit_eval.report.lines import Ink, Line, Span, blank, line
from genkit_eval.report.tables import Column, Row, table
from genkit_eval.report.text import wrap

__all__ = ["command"]


@click.group("evaluator", cls=VerbGroup)
def command() -> None:
    """The evaluators of the app, or of the installed plugins, and those of your own in files.

    \b
    Examples:
      genkit-eval evaluator list
      genkit-eval evaluator show genkitEval/regex
      genkit-eval evaluator show genkitEval/faithfulness --prompt
      genkit-eval evaluator new custom/window
      genkit-eval evaluator import window.yaml
    """


for verb in (export_evaluator, import_evaluators, new_evaluator, say_schema):
    command.add_command(verb)


@command.command("list", cls=Verb)
@app_option
@model_options
@root_option
def list_evaluators(**options: Any) -> int:
    """List the evaluators by name.

    \b
    Example:
      genkit-eval evaluator list --app app.py:ge
    """
    session = open_app(options)
    if session.ge.registry.evaluators:
        # by itself it is of no use
        session.ge.registry.define_what_waits()
    found = sorted(session.ge.registry.evaluators.values(), key=lambda evaluator: evaluator.name)
    aliases = sorted(session.ge.registry.aliases.values(), key=lambda alias: alias.name)
    if options["as_json"]:
        say_json(json_pieces({"evaluators": [_document(evaluator) for evaluator in (*found, *aliases)]}))
    elif not found:
        say([line(session.without_evaluators)])
    else:
        shown = (Column("evaluator"), Column("kind"), Column("reads"))
        rows = [
            Row(
                (Span(e.name, Ink.STRONG), e.kind.value, _reads(e)),
                _below(e, [alias.name for alias in aliases if alias.alias_of == e.name]),
            )
            for e in found
        ]
        say(table(shown, rows, width=columns()))
    return 0


@command.command("show", cls=Verb)
@click.argument("name")
@click.option("--prompt", is_flag=True, help="Show the prompts that it asks its judge with, and nothing else.")
@click.option(
    "--sample",
    metavar="DATA",
    help="With --prompt: as they are sent for the first case of this file or dataset. No judge is asked.",
)
@format_option
@app_option
@model_options
@root_option
def show_evaluator(**options: Any) -> int:
    """Show what an evaluator measures, needs and takes, or with --prompt what it asks its judge.

    \b
    Examples:
      genkit-eval evaluator show genkitEval/regex
      genkit-eval evaluator show genkitEval/faithfulness --prompt
      genkit-eval evaluator show judge/correctness --prompt --sample answers.jsonl
    """
    if options["sample"] is not None and not options["prompt"]:
        raise click.UsageError("--sample goes with --prompt")
    if options["sample"] is not None:
        say_what_it_asks(options, options["name"], options["sample"], format=options["format"])
        return 0
    session = open_with_judge(options) if options["prompt"] else open_app(options)
    evaluator = prepared_evaluator(session, options["name"])
    if options["prompt"]:
        _say_prompts(evaluator, as_json=options["as_json"])
    elif options["as_json"]:
        say_json(json_pieces(_document(evaluator)))
    else:
        say(_lines(evaluator, columns()))
    return 0


def _say_prompts(evaluator: Evaluator, *, as_json: bool) -> None:
    """The prompts as they are, not wrapped: they may be copied into a file."""
    if as_json:
        say_json(json_pieces({"name": evaluator.name, "prompts": {**evaluator.prompts}}))
    elif not evaluator.prompts:
        say([line(f"{evaluator.name} names no prompts")])
    for step, text in {} if as_json else evaluator.prompts.items():
        say([line(Span(f"# {step}", Ink.STRONG)), *(line(row) for row in text.splitlines()), blank()])


def _below(evaluator: Evaluator, aliases: Sequence[str]) -> list[Span]:
    below = [Span(evaluator.definition, Ink.FAINT)] if evaluator.definition else []
    below += [Span(f"also {', '.join(aliases)}", Ink.FAINT)] if aliases else []
    return [*below, Span(f"not ready: {evaluator.needs.partition(':')[0]}", Ink.BAD)] if evaluator.needs else below


def _reads(evaluator: Evaluator) -> str:
    return ", ".join(evaluator.reads)


def _document(evaluator: Evaluator) -> dict[str, JsonValue]:
    rule = evaluator.rule
    return {
        "name": evaluator.name,
        "displayName": evaluator.display_name,
        "definition": evaluator.definition,
        "kind": evaluator.kind.value,
        "version": evaluator.version,
        "direction": evaluator.direction.value,
        "low": rule.low,
        "high": rule.high,
        "threshold": rule.threshold,
        "requires": list(evaluator.requires),
        "nonEmpty": list(evaluator.non_empty),
        "isBilled": evaluator.is_billed,
        "models": {**evaluator.models},
        "panel": evaluator.metadata.get("panel"),
        "notReady": evaluator.needs,
        "aliasOf": evaluator.alias_of,
        "presets": {**evaluator.presets},
        "document": evaluator.metadata.get("document"),
        "options": evaluator.options.model_json_schema() if evaluator.options is not None else None,
    }


def _lines(evaluator: Evaluator, width: int) -> list[Line]:
    rule = evaluator.rule
    facts = {
        "alias of": evaluator.alias_of or "",
        "kind": evaluator.kind.value + (", billed" if evaluator.is_billed else ""),
        "version": evaluator.version,
        "better": "higher" if evaluator.direction.value == "maximize" else "lower",
        "range": f"{rule.low:g} to {rule.high:g}" if rule.low is not None and rule.high is not None else "",
        "threshold": "" if rule.threshold is None else f"{rule.threshold:g}",
        "formula": str(evaluator.metadata.get("formula", "")),
        "source": str(evaluator.metadata.get("source", "")),
        "reads": _reads(evaluator),
        "asks": ", ".join(f"{use} {name}" for use, name in evaluator.models.items()),
        "panel": str(evaluator.metadata.get("panel", "")),
        "not ready": evaluator.needs or "",
    }
    lines = [line(Span(evaluator.name, Ink.STRONG))]
    lines += [line(part) for part in wrap(evaluator.definition, width, lines=20) if part]
    lines.append(blank())
    for name, value in facts.items():
        for place, part in enumerate(wrap(value, width - 11, lines=20) if value else ()):
            lines.append(line(Span(f"{'' if place else name:<11}", Ink.FAINT), part))
    return [*lines, *option_lines(evaluator, width)]
