"""Evaluators in YAML files: read, written, and kept in the folder `evaluators` beside the runs.

What a file says is the business of the plugin that declares the format (`Registry.define_format`); here it is a JSON
value with a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from genkit_eval import _files
from genkit_eval.datasets.yaml_files import parse_yaml, yaml_text
from genkit_eval.errors import ConfigError, DataFileError, StoreError
from genkit_eval.registry import Registry

__all__ = [
    "ENDINGS",
    "SCHEMA_FILE",
    "Document",
    "evaluator_text",
    "file_name",
    "kept_files",
    "load_evaluators",
    "read_evaluators",
    "refuse_other",
    "write_evaluator",
]

ENDINGS = (".yaml", ".yml", ".json")
SCHEMA_FILE = "evaluator.schema.json"
ADVICE = {
    "mapping values are not allowed": "put a text that holds a colon in quotes, and keys below each other",
    "cannot start any token": "indent with spaces, and put a text that begins with @, % or ` in quotes",
}
"""By what the reader of YAML says."""


class Document(NamedTuple):
    """A document, and where it is: in which file, and of several there, which one, as messages say it."""

    file: Path
    place: str
    value: JsonValue


def read_evaluators(path: Path) -> Iterator[Document]:
    """The documents of a file, one or a list of them, or of all files of a folder, by name.

    Raises:
        ConfigError: a file that is not there, is not YAML, or holds none.
    """
    files = kept_files(path) if path.is_dir() else [path]
    if not files:
        raise ConfigError(f"folder {path} holds no file of an evaluator: expected one that ends with .yaml or .json")
    for file in files:
        value = _read(file)
        if not isinstance(value, list):
            yield Document(file, str(file), value)
            continue
        if not value:
            raise ConfigError(f"{file} holds no evaluator: its list is empty")
        for number, document in enumerate(value, 1):
            yield Document(file, f"{file}, evaluator {number} of {len(value)}", document)


def kept_files(folder: Path) -> list[Path]:
    """The files of evaluators in a folder, by name; the schema that editors complete by is none."""
    names = [name for name in sorted(_files.names_in(folder)) if name != SCHEMA_FILE and not name.startswith(".")]
    return [folder / name for name in names if Path(name).suffix in ENDINGS]


def _read(path: Path) -> JsonValue:
    """The value in a YAML (or JSON) file.

    Raises:
        ConfigError: it is not there, or not YAML.
    """
    try:
        value: JsonValue = parse_yaml(path.read_text(encoding="utf-8-sig"))
    except DataFileError as problem:
        raise ConfigError(f"{DataFileError(str(path), problem.problems)}{_advice(path, problem)}") from problem
    except UnicodeError as problem:
        raise ConfigError(f"{path} is no text in UTF-8: save it as that") from problem
    except OSError as problem:
        raise ConfigError(f"{path} cannot be read: {problem.strerror}") from problem
    return value


def _advice(path: Path, problem: DataFileError) -> str:
    """What to do about a file that is not YAML, for what is most often wrong in texts that people write."""
    if re.search(r"^[^#'\"|>]*[:-] +\{\{", path.read_text(encoding="utf-8-sig"), re.MULTILINE):
        return ": put a text that begins with {{ in quotes"
    return next((f": {advice}" for sign, advice in ADVICE.items() if sign in str(problem)), "")


def evaluator_text(document: Mapping[str, JsonValue]) -> str:
    """The YAML of a document."""
    return yaml_text(document)


def write_evaluator(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a file whole, atomically.

    Raises:
        ConfigError: there is one that says something else, and it is not to be replaced.
        StoreError: the disk did not take it.
    """
    try:
        if not replace:
            refuse_other(path, text)
        path.parent.mkdir(parents=True, exist_ok=True)
        _files.replace(path, [text.encode()])
    except OSError as problem:
        raise StoreError(f"{path} cannot be written: {problem.strerror}") from problem


def refuse_other(path: Path, text: str) -> None:
    """Refuse to write a text over another one.

    Raises:
        ConfigError: there is a file that says something else.
    """
    if path.exists() and path.read_bytes() != text.encode():
        raise ConfigError(
            f"{path} is there already, and says something else: replace it (--replace), or choose another name"
        )


def load_evaluators(registry: Registry, folder: Path) -> list[str]:
    """Define the evaluators that a folder keeps; what is wrong with others is told, a text each.

    One whose name the registry has already is left out; that is told where it says something else.
    """
    if registry.evaluator_format is None:
        return []
    problems = []
    for file in kept_files(folder):
        try:
            documents = [*read_evaluators(file)]
        except ConfigError as problem:
            # it begins with the file
            problems.append(f"evaluator file {file} is left out: {str(problem).removeprefix(f'{file}: ')}")
            continue
        for document in documents:
            try:
                _load(registry, document.value)
            except ConfigError as problem:
                problems.append(f"evaluator file {document.place} is left out: {problem}")
    return problems


def _load(registry: Registry, document: JsonValue) -> None:
    assert registry.evaluator_format is not None
    own = registry.evaluator_format.parse(document)
    defined = registry.evaluators.get(own.name)
    if defined is None:
        own.define(registry)
    elif defined.metadata.get("document") != own.document:
        raise ConfigError(f"'{own.name}' is defined otherwise by the app or a plugin")


def file_name(name: str) -> str:
    """The file that an evaluator of this name is kept in."""
    return re.sub(r"[^A-Za-z0-9_-]+", ".", name).strip(".") + ".yaml"
