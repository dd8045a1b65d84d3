"""The program: its verbs, found without being loaded, and what becomes of errors."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

import click

from genkit_eval import __version__
from genkit_eval.cli.options import DEBUG_HELP
from genkit_eval.cli.output import close_streams, prepare_streams, say_json, tell
from genkit_eval.errors import SHOWN_PROBLEMS, DataFileError, GenkitEvalError, NotGiven, UnknownName
from genkit_eval.report.text import one_line

__all__ = ["VERBS", "Program", "invoke", "program"]

USAGE_ERROR, INTERRUPTED = 2, 130

VERBS = {
    "init": "Write a small app and a dataset that run at once.",
    "run": "Run samples through a target and score every output.",
    "plan": "Say what a run would take, before anything is spent.",
    "resume": "Go on with an interrupted run.",
    "rescore": "Judge the stored outputs of a run once more.",
    "list": "List the runs, newest first.",
    "show": "Show a run: its table, and its cases, failing ones first.",
    "dataset": "Keep datasets: add, list, show, update, history, export, remove.",
    "evaluator": "List the evaluators there are, explain one, or keep your own in files.",
    "cache": "Replies of judges and embedders kept between runs: info, clear.",
    "doctor": "Say what is installed, where everything lies, and what is wrong.",
    "eval:run": "As Genkit's eval:run: score the outputs in a file.",
    "eval:flow": "As Genkit's eval:flow: run a flow on data and score it.",
}
"""Each verb with its first line of help; kept here so that help loads none of them."""

_OPTIONS = {
    "target": "name one with --target, or say --no-target to judge the samples as they are",
    "evaluators": "name some with -e",
    "data": "give them again with --data FILE (- for stdin)",
    "format": "name it with --format: json, jsonl, csv, tsv, yaml or chat",
}
"""How what was left out is given on a command line."""


_ARGUMENTS = {
    "data": "name a dataset, or a file of samples like questions.jsonl",
    "run": "name a run; genkit-eval list shows them",
}
"""What an argument is that was left out, where its name does not tell."""


class Program(click.Group):
    """A group whose verbs are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order in which one meets them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A verb, imported now."""
        if cmd_name not in VERBS:
            return None
        module = import_module(f"genkit_eval.cli.{cmd_name.replace(':', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that was named; one that does not exist is refused with the nearest."""
        if args[0] not in VERBS:
            ctx.fail(str(UnknownName("verb", args[0], VERBS)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with their first lines."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.command(cls=Program, invoke_without_command=True)
@click.option("--debug", is_flag=True, help=DEBUG_HELP)
@click.version_option(__version__, prog_name="genkit-eval", message="%(prog)s %(version)s")
@click.pass_context
def program(ctx: click.Context, /, **_options: object) -> None:
    """Measure whether an LLM flow got better.

    \b
      genkit-eval init demo && cd demo
      genkit-eval run questions.jsonl --target answer -e genkitEval/regex
      genkit-eval show

    \b
    Exit codes: 0 passed; 1 FAILED cells beyond the tolerance, failures that
    ended the run early, or nothing was judged; 2 usage, configuration or data
    error; 3 a budget ended the run; 100 a gate (--fail-under) was missed; 130
    interrupted. The first in the order 130, 2, 3, 1, 100 counts.

    \b
    Settings: options, then GENKIT_EVAL_APP, _HOME, _JUDGE, _PANEL, _EMBEDDER,
    _MAX_CONCURRENCY, _REQUESTS_PER_MINUTE, _TOKENS_PER_MINUTE, _MODEL_LIMIT,
    _PRICES and _TIMEOUT, then genkit-eval.toml or [tool.genkit_eval] in
    pyproject.toml (app, root, judge, panel, embedder, max_concurrency,
    requests_per_minute, tokens_per_minute, model_limit, prices, timeout).

    Every verb knows --help, --json and --debug.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def invoke(arguments: Sequence[str]) -> int:
    """Run a command line; its exit code. Errors are one line on stderr, and with `--json` a document on stdout too."""
    prepare_streams()
    with _logging_to_stderr(debug="--debug" in arguments):
        code = _guarded(arguments)
    close_streams()
    return code


def _guarded(arguments: Sequence[str]) -> int:
    try:
        code = program.main(list(arguments), prog_name="genkit-eval", standalone_mode=False)
        close_streams()
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, click.Abort):
        return _ended(arguments, ["interrupted"], INTERRUPTED)
    except SystemExit:
        # the reader of help has gone, or a shell asked for completions: click leaves by itself
        return 0
    except click.exceptions.NoArgsIsHelpError as problem:
        # its message is the help of a group whose verb was left out
        click.echo(problem.format_message())
        return 0
    except click.UsageError as problem:
        path = problem.ctx.command_path if problem.ctx is not None else "genkit-eval"
        return _refused(arguments, [f"{path}: {_usage(problem)} (see {path} --help)"])
    except click.ClickException as problem:
        return _refused(arguments, [f"genkit-eval: {problem.format_message()}"])
    except (GenkitEvalError, OSError) as problem:
        if "--debug" in arguments:
            logging.getLogger("genkit_eval.cli").exception("refused")
        return _refused(arguments, _lines_of(problem))


def _usage(problem: click.UsageError) -> str:
    said = problem.format_message().removesuffix(".")
    name = problem.param.name if isinstance(problem, click.MissingParameter) and problem.param is not None else None
    return f"{said}: {_ARGUMENTS[name]}" if name in _ARGUMENTS else said


def _refused(arguments: Sequence[str], lines: Sequence[str]) -> int:
    return _ended(arguments, lines, USAGE_ERROR)


def _ended(arguments: Sequence[str], lines: Sequence[str], code: int) -> int:
    if "--json" in arguments:
        document = {"error": "\n".join(lines), "exitCode": code}
        say_json([json.dumps(document, indent=2, ensure_ascii=True)])
    for line in lines:
        tell(line)
    return code


def _lines_of(problem: Exception) -> list[str]:
    if isinstance(problem, NotGiven) and problem.what in _OPTIONS:
        return [f"genkit-eval: {problem.problem}: {_OPTIONS[problem.what]}"]
    if not isinstance(problem, DataFileError) or "\n" not in str(problem):
        return [f"genkit-eval: {problem}"]
    # each problem on a line of its own; a line end within one of them does not make another
    text = str(problem)
    shown = [f"  {found}" for found in problem.problems[:SHOWN_PROBLEMS]]
    last = text.rpartition("\n")[2]
    hidden = [last] if last.startswith("  … and ") else []
    return [f"genkit-eval: {text.partition(chr(10))[0]}", *shown, *hidden]


class _OneLine(logging.Formatter):
    """A record is one line, whatever ids and errors hold; only our own tracebacks have more."""

    def format(self, record: logging.LogRecord) -> str:
        text = f"{record.levelname.lower()}: {one_line(record.getMessage())}"
        if record.exc_info:
            trace = self.formatException(record.exc_info).splitlines()
            text += "\n" + "\n".join(one_line(line) for line in trace)
        return text


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]
    # the stream of the moment: a progress bar puts itself in its place
    stream = property(lambda self: sys.stderr, lambda self, value: None)


@contextmanager
def _logging_to_stderr(*, debug: bool) -> Iterator[None]:
    logger = logging.getLogger("genkit_eval")
    before = logger.handlers[:], logger.level, logger.propagate
    handler = _Stderr()
    handler.setFormatter(_OneLine())
    # what the engine says of a stopped run, the verbs say themselves, with the command that goes on
    handler.addFilter(lambda record: debug or record.name != "genkit_eval")
    logger.handlers[:], logger.propagate = [handler], False
    logger.setLevel(logging.DEBUG if debug else logging.WARNING)
    try:
        yield
    finally:
        logger.handlers[:], level, logger.propagate = before
        logger.setLevel(level)
