"""From what was asked for to an exit code: check, evaluate, report. `run`, `resume` and the `eval:` verbs share it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from genkit_eval.cli.consent import consented
from genkit_eval.cli.options import parse_bound, parse_evaluator
from genkit_eval.cli.output import broken, columns, say, say_json, tell
from genkit_eval.cli.progress import ProgressLine
from genkit_eval.cli.request import Request
from genkit_eval.cli.samples import suggesting_files
from genkit_eval.cli.session import Session, app_prints_to_stderr
from genkit_eval.cli.termination import ending_as_ctrl_c
from genkit_eval.definitions import Evaluator
from genkit_eval.engine import DataFile, EvalRun, ModelLimits, route
from genkit_eval.engine.asking.model_limits import read_model_limits
from genkit_eval.errors import ConfigError, GenkitEvalError
from genkit_eval.registry import EvaluatorRef
from genkit_eval.report.documents import json_pieces, run_document
from genkit_eval.report.exports import check_export, export_format, export_results
from genkit_eval.report.lines import Ink, Line, Span, blank, line
from genkit_eval.report.numbers import counted
from genkit_eval.report.run_report import run_lines
from genkit_eval.report.verdict import Bound, Verdict, check_bounds, verdict
from genkit_eval.settings import Settings
from genkit_eval.waiting import run_sync

__all__ = ["Report", "Request", "carry_out", "limits_of", "refs_of", "report_of", "routed"]

INTERRUPTED = 130


@dataclass(frozen=True)
class Report:
    """What is to be made of a run when it is done."""

    bounds: Sequence[Bound] = ()
    max_failed: int = 0
    output: Path | None = None
    output_format: str | None = None
    as_json: bool = False


def report_of(options: Mapping[str, Any]) -> Report:
    """What the options say about the report; the place of the output is looked at now, before anything is paid for."""
    output, output_format = options["output"], options["output_format"]
    if output is not None:
        output_format = export_format(output, output_format)
        check_export(output)
    elif output_format is not None:
        raise click.UsageError("--output-format says how, but --output does not say where: give both")
    bounds = [Bound(*parse_bound(text)) for text in options["bounds"]]
    return Report(bounds, options["max_failed"], output, output_format, options["as_json"])


def limits_of(options: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The limits that were set, as arguments of `Limits`; 0 seconds are no deadline."""
    limits: dict[str, Any] = {}
    if settings.max_concurrency is not None:
        limits["max_concurrency"] = settings.max_concurrency
    for name, default in (("target", settings.timeout), ("evaluator", settings.timeout), ("sample", None)):
        seconds = options[f"{name}_timeout"]
        seconds = default if seconds is None else seconds
        if seconds is not None:
            limits[f"{name}_seconds"] = seconds or None
    if options["call_timeout"] is not None:
        limits["call_seconds"] = options["call_timeout"] or None
    for name, option in (("max_failures", "max_failures"), ("retry_seconds", "retry_timeout"), ("retries", "retries")):
        if options[option] is not None:
            limits[name] = options[option]
    models = _model_limits(settings)
    return limits if models is None else {**limits, "models": models}


def _model_limits(settings: Settings) -> ModelLimits | Mapping[str, ModelLimits] | None:
    """Those of all models, and of some by their names; None where nothing is set."""
    requests, tokens = settings.requests_per_minute, settings.tokens_per_minute
    common = ModelLimits(requests_per_minute=requests, tokens_per_minute=tokens)
    if settings.model_limit is None:
        return None if common == ModelLimits() else common
    return {"*": common, **read_model_limits(settings.model_limit, common=common)}


def _tell_idle_limits(settings: Settings, run: EvalRun) -> None:
    """Of the limits on the command line, those of models that the run did not ask: a name may be misspelt."""
    if settings.get("model_limit").origin != "--model-limit":
        return
    asked = sorted({spent.model for spent in run.key.usage})
    providers = {name.partition("/")[0] for name in asked}
    for name in read_model_limits(settings.model_limit or ""):
        if name not in (*asked, *providers, "*"):
            tell(f"note: --model-limit {name} had no effect: the run itself asked {', '.join(asked) or 'no model'}")


def refs_of(specs: Sequence[str]) -> list[EvaluatorRef] | None:
    """The evaluators asked for with their options; None when none was."""
    return [EvaluatorRef(*parse_evaluator(spec)) for spec in specs] or None


def routed(refs: Sequence[EvaluatorRef] | None, options: Mapping[str, Any]) -> Sequence[EvaluatorRef] | None:
    """The evaluators with `route` beside them, if it was asked for."""
    judge = options["route_judge"]
    if not options["route"] and judge is None:
        return refs
    return [*(refs or ()), route(judge=None if judge is None else EvaluatorRef(*parse_evaluator(judge)))]


def carry_out(session: Session, request: Request, report: Report) -> int:
    """Evaluate and report; the exit code."""
    _keep_data(session, request, report.output)
    progress = ProgressLine()
    try:
        with ending_as_ctrl_c(), app_prints_to_stderr(), session.naming_the_app(), suggesting_files(request.data):
            # a finished run is reported even where its evaluators are not defined
            if report.bounds or request.resume is None:
                check_bounds(report.bounds, _evaluators(session, request))
            if not _may_run(session, request):
                return _nothing_run(report)
            with progress:
                run = run_sync(_evaluation(session, request, progress))
    except KeyboardInterrupt:
        return _interrupted(session, request, report, progress.run_id)
    except GenkitEvalError:
        if progress.run_id is not None:
            command = _resume_command(session, request, progress.run_id)
            tell(f"what is finished is kept; go on with: {command}", whole=True)
        raise
    if progress.run_id is None:
        tell(f"{run.id} was complete already: nothing was done again")
    return _reported(session, request, report, run)


def _reported(session: Session, request: Request, report: Report, run: EvalRun) -> int:
    if report.output is not None:
        export_results(report.output, run.results, format=report.output_format or "json")
    came_to = verdict(run, report.bounds, most_failed=report.max_failed)
    again = None if run.complete else _resume_command(session, request, run.id)
    if report.as_json:
        going_on = {} if again is None else {"resume": again}
        say_json(json_pieces({**run_document(run, came_to), **going_on}))
        for message in came_to.messages:
            tell(message)
    else:
        say(_text(session, run, report, came_to))
    _tell_idle_limits(session.settings, run)
    if again is not None:
        tell(f"what is finished is kept; go on with: {again}", whole=True)
    return came_to.exit_code


def _nothing_run(report: Report) -> int:
    if report.as_json:
        say_json(json_pieces({"error": "nothing was run", "exitCode": INTERRUPTED}))
    tell("nothing was run")
    return INTERRUPTED


def _may_run(session: Session, request: Request) -> bool:
    if request.resume is not None and session.ge.runs.load(request.resume).complete:
        return True
    return consented(session, request, _evaluators(session, request))


def _keep_data(session: Session, request: Request, output: Path | None) -> None:
    """Refuse an output that would take the place of the samples."""
    data = request.data
    if output is None or not output.exists():
        return
    if request.resume is not None and data is None:
        data = Path(str((session.ge.runs.load(request.resume).key.source or {}).get("path", "")))
    path = data.path if isinstance(data, DataFile) else data
    if isinstance(path, Path) and path.exists() and path.samefile(output):
        raise ConfigError(f"--output {output} is the file of the samples: choose another, so that they are kept")


async def _evaluation(session: Session, request: Request, progress: ProgressLine) -> EvalRun:
    if request.rescore is not None:
        return await session.ge.rescore(
            request.rescore,
            request.evaluators,
            limits=request.limits,
            budget=request.budget,
            repeats=request.repeats,
            progress=progress,
        )
    return await session.ge.evaluate(
        request.data,
        target=request.target,
        evaluators=request.evaluators,
        select=request.select,
        limits=request.limits,
        budget=request.budget,
        repeats=request.repeats,
        resume=request.resume,
        progress=progress,
    )


def _evaluators(session: Session, request: Request) -> list[Evaluator]:
    """Those that will judge.

    Raises:
        UsageError: none was named, and the data names none.
    """
    if request.evaluators is not None:
        names = [ref.name for ref in request.evaluators]
    elif (run := request.resume or request.rescore) is not None:
        names = [record.evaluator for record in session.ge.runs.load(run).key.evaluators]
    elif isinstance(request.data, str):
        names = list(session.ge.datasets.get(request.data).metadata.metric_refs)
    else:
        names = []
    if not names:
        known = ", ".join(session.ge.registry.ready_evaluators[:10])
        advice = [f"name some with -e ({known})"] if known else []
        if session.how_to_name_an_app:
            advice.append(session.how_to_name_an_app)
        raise click.UsageError(
            f"no evaluators are named, and the data names none: {'; '.join(advice) or 'the app defines none'}"
        )
    return [session.ge.registry.evaluator(name) for name in names]


def _text(session: Session, run: EvalRun, report: Report, came_to: Verdict) -> list[Line]:
    lines = [*run_lines(run, width=columns()), blank()]
    if report.output is not None:
        lines.append(_named("results", str(report.output)))
    lines.append(_named("run file", str(run.path)))
    lines.append(_named("next", session.command("show", run.id)))
    ink = Ink.BAD if came_to.exit_code else Ink.GOOD
    return [*lines, *(line(Span(part, ink)) for message in came_to.messages for part in broken(message, sys.stdout))]


def _named(name: str, text: str) -> Line:
    return line(Span(name.ljust(10), Ink.FAINT), text)


def _interrupted(session: Session, request: Request, report: Report, run_id: str | None) -> int:
    """Say where what is finished lies, and how to go on."""
    if run_id is None:
        if report.as_json:
            say_json(json_pieces({"error": "interrupted", "exitCode": INTERRUPTED}))
        tell("interrupted before anything ran")
        return INTERRUPTED
    kept = session.ge.runs.load(run_id)
    command = _resume_command(session, request, run_id)
    if report.as_json:
        document = {**run_document(kept), "resume": command, "error": "interrupted", "exitCode": INTERRUPTED}
        say_json(json_pieces(document))
    finished = sum(1 for _ in kept.finished())
    tell(f"interrupted; {counted(finished, 'finished case')} {'is' if finished == 1 else 'are'} kept in {kept.path}")
    tell(f"go on with: {command}", whole=True)
    return INTERRUPTED


def _resume_command(session: Session, request: Request, run_id: str) -> str:
    """Samples from code and stdin were not kept: they must be given again."""
    again = [] if request.data is None or isinstance(request.data, str | Path | DataFile) else ["--data", "FILE"]
    if request.yes:
        again.append("--yes")
    return session.command("resume", run_id, *again, app=True)
