"""`genkit-eval evaluator export`, `import`, `new` and `schema`: evaluators of one's own in files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from pydantic import JsonValue

from genkit_eval.cli.options import Verb, app_option, root_option
from genkit_eval.cli.output import say, say_json, tell
from genkit_eval.cli.prepared import open_with_judge, prepared_evaluator
from genkit_eval.cli.session import KEPT, Session, open_app
from genkit_eval.errors import ConfigError
from genkit_eval.evaluator_files import (
    SCHEMA_FILE,
    evaluator_text,
    file_name,
    read_evaluators,
    refuse_other,
    write_evaluator,
)
from genkit_eval.registry import EvaluatorFormat, FileEvaluator
from genkit_eval.report.documents import json_pieces
from genkit_eval.report.lines import line

__all__ = ["export_evaluator", "import_evaluators", "new_evaluator", "say_schema"]

_output = click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write it there, in place of stdout."
)
_replace = click.option("--replace", is_flag=True, help="Write over a file that says something else.")


@click.command("export", cls=Verb)
@click.argument("name")
@_output
@_replace
@app_option
@root_option
def export_evaluator(**options: Any) -> int:
    """Write an evaluator of your own as YAML, with the steps that were made for it.

    \b
    Example:
      genkit-eval evaluator export custom/window -o window.yaml
    """
    # steps are kept without regard to who judges by them
    document = _document(open_with_judge(options), options["name"])
    text = evaluator_text(document)
    if options["output"] is not None:
        write_evaluator(options["output"], text, replace=options["replace"])
    if options["as_json"]:
        say_json(json_pieces({"document": document, "exitCode": 0}))
    elif options["output"] is None:
        say([line(row) for row in text.splitlines()])
    return 0


@click.command("import", cls=Verb)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@_replace
@app_option
@root_option
def import_evaluators(**options: Any) -> int:
    """Keep the evaluators of YAML files beside the runs, so that runs can name them.

    They are judged by the app's judge, or by --judge, unless a file names its own model.

    \b
    Example:
      genkit-eval evaluator import window.yaml tone.yaml
    """
    session = open_app(options)
    found: dict[str, tuple[Path, str]] = {}
    for file in options["files"]:
        for path, own, text in _read(session, file):
            if own.name in found:
                raise ConfigError(f"{path}: '{own.name}' is in {found[own.name][0]} too: keep one")
            _refuse_taken(session, path, own, found)
            found[own.name] = path, text
    kept = {name: session.ge.root / KEPT / file_name(name) for name in found}
    for name, (_, text) in () if options["replace"] else found.items():
        # all of them or none
        refuse_other(kept[name], text)
    for name, (_, text) in found.items():
        write_evaluator(kept[name], text, replace=options["replace"])
    if options["as_json"]:
        listed: list[JsonValue] = [{"name": name, "file": str(file)} for name, file in kept.items()]
        say_json(json_pieces({"imported": listed, "exitCode": 0}))
    else:
        say([line(f"{name}: {file}") for name, file in kept.items()])
        tell(f"to run one: {session.command('run', 'DATA', '-e', next(iter(kept)), app=True)}", whole=True)
    return 0


@click.command("new", cls=Verb)
@click.argument("name")
@click.option("--from", "like", metavar="EVALUATOR", help="Begin with what this one says: a quality, or one of yours.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write it there. Default: the last part of NAME, with .yaml.",
)
@_replace
@app_option
@root_option
def new_evaluator(**options: Any) -> int:
    """Begin an evaluator of your own: a YAML file to edit, and beside it the schema that editors complete by.

    A name that begins with "geval/" is one after G-Eval: a criterion and steps.

    \b
    Examples:
      genkit-eval evaluator new custom/window
      genkit-eval evaluator new custom/polite --from quality/politeness
      genkit-eval evaluator new geval/coherence -o coherence.yaml
    """
    session = open_app(options)
    name = options["name"]
    evaluators = _format(session)
    begun = evaluators.starter(name) if options["like"] is None else _renamed(session, options["like"], name)
    file: Path = options["output"] or Path(f"{name.rpartition('/')[2]}.yaml")
    text = f"# yaml-language-server: $schema={SCHEMA_FILE}\n{begun}"
    write_evaluator(file, text, replace=options["replace"])
    write_evaluator(file.with_name(SCHEMA_FILE), _schema_text(evaluators), replace=True)
    if options["as_json"]:
        say_json(
            json_pieces({"name": name, "file": str(file), "schema": str(file.with_name(SCHEMA_FILE)), "exitCode": 0})
        )
    else:
        say([line(str(file))])
        tell(f"edit it, then: {session.command('evaluator', 'import', str(file), app=True)}", whole=True)
    return 0


@click.command("schema", cls=Verb)
@_output
@_replace
@app_option
@root_option
def say_schema(**options: Any) -> int:
    """Print the JSON Schema of evaluators in files, by which editors complete and check them.

    \b
    Example:
      genkit-eval evaluator schema -o evaluator.schema.json
    """
    session = open_app(options)
    text = _schema_text(_format(session))
    if options["output"] is None:
        say([line(row) for row in text.splitlines()])
    else:
        write_evaluator(options["output"], text, replace=options["replace"])
    return 0


def _renamed(session: Session, like: str, name: str) -> str:
    """What an evaluator says, under another name, and without the title of the first."""
    said = {key: value for key, value in _document(session, like).items() if key != "title"}
    begun = _format(session).parse({**said, "name": name})
    if begun.name != name:
        raise ConfigError(f"what begins like '{like}' would be called '{begun.name}', not '{name}': give that name")
    return evaluator_text(begun.document)


def _document(session: Session, name: str) -> dict[str, JsonValue]:
    """What a file of the evaluator holds, with what was made for it."""
    found = prepared_evaluator(session, name)
    bare = found.own_name
    document = found.metadata.get("document") or _format(session).document(bare)
    if not isinstance(document, dict):
        raise ConfigError(
            f"evaluator '{bare}' is defined in code: only those of your own that a judge decides are in files"
        )
    return document


def _format(session: Session) -> EvaluatorFormat:
    found = session.ge.registry.evaluator_format
    if found is None:
        advice = session.how_to_name_an_app or "give the app the plugin judges()"
        raise ConfigError(f"no plugin has evaluators in files: {advice}")
    return found


def _read(session: Session, file: Path) -> Iterator[tuple[Path, FileEvaluator, str]]:
    """The evaluators of a file or folder, each with the text to be kept: the file's own, where it holds no other."""
    documents = list(read_evaluators(file))
    for path, place, document in documents:
        try:
            own = _format(session).parse(document)
        except ConfigError as problem:
            raise ConfigError(f"{place}: {problem}") from problem
        alone = sum(other.file == path for other in documents) == 1
        yield path, own, path.read_text(encoding="utf-8-sig") if alone else evaluator_text(own.document)


def _refuse_taken(session: Session, path: Path, own: FileEvaluator, found: Iterable[str]) -> None:
    """Refuse a name that is defined by something else than a file that is kept, or whose file would be another's."""
    file = session.ge.root / KEPT / file_name(own.name)
    alike = [name for name in found if file_name(name) == file.name]
    other = next((name for name in (*alike, *_names_in(session, file)) if name != own.name), None)
    if other is not None:
        raise ConfigError(f"{path}: '{own.name}' and '{other}' would be in one file, {file.name}: choose another name")
    registry = session.ge.registry
    if own.name in registry.aliases or (own.name in registry.evaluators and not file.exists()):
        raise ConfigError(f"{path}: evaluator '{own.name}' is defined by the app or a plugin: choose another name")


def _names_in(session: Session, file: Path) -> list[str]:
    """Whose file it is; nobody's, if it is broken or not there."""
    try:
        return [_format(session).parse(item.value).name for item in read_evaluators(file)]
    except ConfigError:
        return []


def _schema_text(evaluators: EvaluatorFormat) -> str:
    return json.dumps(evaluators.schema(), indent=2, ensure_ascii=False) + "\n"
