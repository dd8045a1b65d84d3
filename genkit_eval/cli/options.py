"""Options that several verbs have, and how their values are read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from genkit_eval.cli.help import write_options
from genkit_eval.cli.numbers import amount, whole_number
from genkit_eval.errors import no_constant

__all__ = [
    "DEBUG_HELP",
    "Verb",
    "app_option",
    "cache_options",
    "case_options",
    "cases_of",
    "expected_version_option",
    "format_option",
    "judge_repeats_option",
    "metrics_option",
    "model_options",
    "parse_bound",
    "parse_evaluator",
    "repeat_options",
    "report_options",
    "root_option",
    "route_options",
    "speed_options",
    "version_value",
    "with_options",
]

F = TypeVar("F", bound=Callable[..., Any])

_SPEC = re.compile(r"(?P<name>.+?)(?::(?P<options>[A-Za-z_]\w*=.*))?", re.DOTALL)
_OPTION = re.compile(r"([A-Za-z_]\w*)=")
_NEXT = re.compile(r",(?=[A-Za-z_]\w*=)")


DEBUG_HELP = "Show tracebacks, also of an app that cannot be imported, and log more."


class Verb(click.Command):
    """A command with the options that every verb has."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += [
            click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document on stdout."),
            click.Option(["--debug"], is_flag=True, expose_value=False, help=DEBUG_HELP),
        ]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options; many of them under headings."""
        write_options(self.get_params(ctx), ctx, formatter)


def app_option(function: F) -> F:
    """`--app`."""
    what = "The GenkitEval object: module:object or path/to/file.py:object."
    help_text = f"{what} Default: app in genkit-eval.toml, else the installed plugins."
    return click.option("--app", metavar="APP", help=help_text)(function)


def with_options(options: Sequence[Callable[[F], F]], function: F) -> F:
    """A command with these options, the first one listed first."""
    for option in reversed(options):
        function = option(function)
    return function


def root_option(function: F) -> F:
    """`--root`."""
    help_text = "The folder that holds datasets and runs, in place of the project's .genkit."
    return click.option("--root", metavar="DIR", help=help_text)(function)


def model_options(function: F) -> F:
    """`--judge`, `--panel` and `--embedder`."""
    where = "Only for the installed plugins: an app names its own."
    options = [
        click.option(
            "--judge",
            metavar="MODEL",
            help=f"The model that judges, like openai/NAME; several with commas between. {where}",
        ),
        click.option(
            "--panel",
            type=click.Choice(["majority", "mean"]),
            help="How several judges come to one score: by what most of them say, or by their mean. [majority]",
        ),
        click.option("--embedder", metavar="NAME", help=f"The embedder, like openai/NAME. {where}"),
    ]
    return with_options(options, function)


def cache_options(function: F) -> F:
    """`--no-cache` and `--cache-only`."""
    options = [
        click.option("--no-cache", is_flag=True, help="Ask judges and embedders anew, and keep nothing they say."),
        click.option(
            "--cache-only",
            is_flag=True,
            help="Ask no judge or embedder: what the cache has no reply to is FAILED.",
        ),
    ]
    return with_options(options, function)


def format_option(function: F) -> F:
    """`--format` of a data file."""
    help_text = "Format: json, jsonl, csv, tsv, yaml, or chat (logs in OpenAI's form). Default: by the ending."
    return click.option("--format", "format", metavar="FORMAT", help=help_text)(function)


def case_options(function: F) -> F:
    """`--tag`, `--user` and `--session`: which cases of stored runs are meant."""
    options = [
        click.option(
            "--tag", "tags", multiple=True, metavar="TAG", help="Cases with this tag. Repeatable: any of them."
        ),
        click.option("--user", "user_id", metavar="ID", help="Cases of this user (`userId`)."),
        click.option("--session", "session_id", metavar="ID", help="Cases of this session (`sessionId`)."),
    ]
    return with_options(options, function)


def cases_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """What `case_options` were given, as `EvalRun.where` and `Runs.list` take them."""
    return {name: options[name] for name in ("tags", "user_id", "session_id")}


def metrics_option(help_text: str, *, metavar: str = "NAME") -> Callable[[F], F]:
    """`-e` or `-m`: whoever chose metrics once will not look up again under which letter."""
    names = ("-e", "-m", "--evaluator", "--metric")
    return click.option(*names, "metrics", multiple=True, metavar=metavar, help=help_text)


def route_options(function: F) -> F:
    """Whether one evaluator settles each case."""
    options = [
        click.option("--route", is_flag=True, help="Let one evaluator settle each case, by what its 'expect' says."),
        click.option(
            "--route-judge", metavar="NAME[:OPTION=VALUE,…]", help="With --route: who settles what 'expect' does not."
        ),
    ]
    return with_options(options, function)


_PER_MINUTE = amount("a number above 0", above_zero=True)


def speed_options(function: F) -> F:
    """How much at once, and how long."""
    seconds = amount("seconds from 0 up")
    options = [
        click.option("--max-concurrency", type=whole_number(1), metavar="N", help="Samples in flight. [32]"),
        click.option("--timeout", type=seconds, metavar="S", help="Seconds for each call; 0: no deadline. [600]"),
        click.option("--target-timeout", type=seconds, metavar="S", help="Seconds for a call of the target."),
        click.option("--evaluator-timeout", type=seconds, metavar="S", help="Seconds for a call of an evaluator."),
        click.option("--sample-timeout", type=seconds, metavar="S", help="Seconds for all of a sample. [no deadline]"),
        click.option(
            "--max-failures",
            type=_count_or_share,
            metavar="N|SHARE",
            help="Stop early once so many cases FAILED: a number, or a share like 0.1 or 10%. What is done is kept.",
        ),
        click.option("--call-timeout", type=seconds, metavar="S", help="Seconds for one attempt of a model call."),
        click.option(
            "--retry-timeout",
            type=seconds,
            metavar="S",
            help="Seconds for all attempts of a model call; 0: a single one. [300]",
        ),
        click.option("--retries", type=whole_number(0), metavar="N", help="How often it is sent again. [5]"),
        click.option("--requests-per-minute", type=_PER_MINUTE, metavar="N", help="To each model. [as it bears]"),
        click.option("--tokens-per-minute", type=_PER_MINUTE, metavar="N", help="To and from each model."),
        click.option(
            "--model-limit",
            multiple=True,
            callback=lambda _context, _option, texts: list(texts) or None,
            metavar="MODEL:LIMIT=N,…",
            help="Limits of one model or provider, like openai/gpt-4o:requests_per_minute=500: concurrency (calls at "
            "once, to begin with), most_concurrency, requests_per_minute, tokens_per_minute. Repeatable.",
        ),
    ]
    return with_options(options, function)


def repeat_options(function: F) -> F:
    """`--repeats` and `--judge-repeats`."""
    options = [
        click.option(
            "--repeats",
            type=whole_number(1),
            default=1,
            metavar="N",
            help="Run each sample N times: the report has what its passes agree on, pass@k and pass^k. [1]",
        ),
        judge_repeats_option,
    ]
    return with_options(options, function)


def judge_repeats_option(function: F) -> F:
    """`--judge-repeats`."""
    help_text = "Ask each judge N times about each output: the median, or what most answers say, counts. [1]"
    option = click.option("--judge-repeats", type=whole_number(1), default=1, metavar="N", help=help_text)
    return option(function)


def report_options(function: F) -> F:
    """What is made of a run when it is done."""
    options = [
        click.option(
            "--fail-under",
            "bounds",
            multiple=True,
            metavar="METRIC=VALUE",
            help="Gate: exit 100 unless the metric's pass rate (else its mean) is at least this; "
            "a mean where lower is better: at most. Repeatable.",
        ),
        click.option(
            "--max-failed",
            type=whole_number(0),
            default=0,
            metavar="N",
            help="How many FAILED cells are tolerated before the exit code is 1. [0]",
        ),
        click.option(
            "-o",
            "--output",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Write the results there too: .csv, .json or .jsonl.",
        ),
        click.option("--output-format", metavar="FORMAT", help="csv, json or jsonl. Default: by the file's ending."),
    ]
    return with_options(options, function)


def expected_version_option(function: F) -> F:
    """`--expected-version`."""
    help_text = "The version that this change is meant for; 'any' to change whatever is there."
    return click.option("--expected-version", metavar="N", help=help_text)(function)


def version_value(text: str) -> int | None:
    """The version number; None for "any"."""
    if text == "any":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise click.UsageError(f"--expected-version is '{text}': expected a version number, or 'any'")
    return int(text)


def parse_evaluator(text: str) -> tuple[str, dict[str, Any]]:
    """Name and options of "name:option=value,option=value"; values are JSON, or else text.

    A comma belongs to a text unless an option follows it; a value in JSON quotes may hold anything.
    """
    match = _SPEC.fullmatch(text)
    if match is None:
        raise click.UsageError("-e is empty: give the name of an evaluator, like -e genkitEval/regex")
    options: dict[str, Any] = {}
    rest = match["options"] or ""
    while rest:
        found = _OPTION.match(rest)
        if found is None:
            raise click.UsageError(f"-e {text}: expected option=value at '{rest}'")
        if found[1] in options:
            raise click.UsageError(f"-e {text}: option '{found[1]}' is given twice")
        options[found[1]], rest = _value(rest[found.end() :])
    return match["name"], options


def _value(text: str) -> tuple[Any, str]:
    """The value at the start of a text, and what follows its comma."""
    try:
        value, end = json.JSONDecoder(parse_constant=no_constant).raw_decode(text)
        if end == len(text) or _NEXT.match(text, end):
            return value, text[end + 1 :]
    except ValueError:
        pass
    value, *rest = _NEXT.split(text, maxsplit=1)
    return value, rest[0] if rest else ""


def _count_or_share(text: str) -> int | float:
    """A whole number as int, a share (0.1, 10%) as float."""
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        problem = f"--max-failures {text}: expected a number of cases or a share of them, like 10, 0.1 or 10%"
        raise click.UsageError(problem) from None


def parse_bound(text: str) -> tuple[str, float]:
    """Metric and value of "metric=value"."""
    metric, equals, value = text.rpartition("=")
    try:
        if equals and metric:
            return metric, float(value)
    except ValueError:
        pass
    raise click.UsageError(f"--fail-under {text}: expected METRIC=VALUE with a number, like genkitEval/regex=0.9")
