"""YAML: a list of samples, or a mapping with the list `samples`; the types of YAML 1.2's core schema, nothing else.

Dates, `yes`, `no`, `on`, `off`, `1:30` and `1_000` are text; tags are refused; keys may not repeat. Only the safe
loader's parser runs: its nodes are turned into JSON values here, so no tag can make an object.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, ClassVar

import yaml

from genkit_eval.datasets.fields import kind_of
from genkit_eval.datasets.intake import Batch, Intake, Place
from genkit_eval.datasets.sources import decoded
from genkit_eval.datasets.strict_json import DEEPEST
from genkit_eval.errors import DataFileError, Problem
from genkit_eval.types import Sample

__all__ = ["parse_yaml", "read_yaml", "write_yaml", "yaml_text"]

MOST_REPEATED = 100_000
"""Nodes that aliases may repeat: shared contexts are welcome, documents that unfold without end are not."""

LONGEST_PATH = 120

_TAG = "tag:yaml.org,2002:"
_DIGITS = list("-+.0123456789")
_RESOLVERS = (
    ("null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    ("bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    ("int", re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"), _DIGITS),
    ("float", re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"), _DIGITS),
    ("float", re.compile(r"^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"), _DIGITS),
    ("merge", re.compile(r"^<<$"), ["<"]),
)

# the parser in C is ten times as quick, where PyYAML was built with it
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: type[yaml.SafeDumper] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _CoreLoader(_Loader):  # type: ignore[misc, valid-type]
    """Knows the types of YAML 1.2's core schema only."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


class _BothDumper(_Dumper):  # type: ignore[misc, valid-type]
    """Quotes every text that a reader of YAML 1.1 or 1.2 would take for something else."""

    yaml_implicit_resolvers: ClassVar = {key: list(value) for key, value in _Dumper.yaml_implicit_resolvers.items()}

    def ignore_aliases(self, data: object) -> bool:
        return True

    def represent_str(self, data: str) -> yaml.Node:
        # line breaks in YAML 1.1 only: they are escaped
        style = '"' if "\u2028" in data or "\u2029" in data else self.style_of(data)
        node: yaml.Node = self.represent_scalar(f"{_TAG}str", data, style=style)
        return node

    def style_of(self, data: str) -> str | None:
        return None


class _BlockDumper(_BothDumper):
    """Writes texts of several lines as blocks, which people can edit."""

    def style_of(self, data: str) -> str | None:
        return "|" if "\n" in data else None


_BothDumper.add_representer(str, lambda dumper, data: dumper.represent_str(data))
_LAYOUT: Mapping[str, Any] = {
    "allow_unicode": True,
    "sort_keys": False,
    "default_flow_style": False,
    "width": 1 << 30,
}

for _name, _pattern, _first in _RESOLVERS:
    _CoreLoader.add_implicit_resolver(_TAG + _name, _pattern, _first)
    _BothDumper.add_implicit_resolver(_TAG + _name, _pattern, _first)


def read_yaml(stream: BinaryIO, intake: Intake) -> Iterator[Batch]:
    """All samples in one batch; a YAML file is read whole."""
    text = decoded(stream.read())
    if isinstance(text, Problem):
        intake.add(text)
        return
    root = _root(text)
    if isinstance(root, Problem):
        intake.add(root)
        return
    nodes = _nodes(root, intake)
    yield intake.batch(_rows(nodes, intake))


def parse_yaml(text: str) -> Any:
    """The value of a YAML document that is no dataset.

    Raises:
        DataFileError: it is not valid, or holds more than plain data; its source is "YAML".
    """
    root = _root(text)
    if isinstance(root, Problem):
        raise DataFileError("YAML", [root])
    plainer = _Plainer()
    value = None if root is None else plainer.value(root, "", DEEPEST)
    if plainer.problems:
        raise DataFileError(
            "YAML", [Problem(text, line=line, field=path or None) for line, path, text in plainer.problems]
        )
    return value


def yaml_text(value: object) -> str:
    """A value as a YAML document that both versions of YAML read as it is; texts of several lines are blocks."""
    text: str = yaml.dump(value, Dumper=_BlockDumper, **_LAYOUT)
    return text


def _root(text: str) -> yaml.Node | Problem | None:
    """The document, or why it is none."""
    try:
        loader = _CoreLoader(text)
        try:
            node: yaml.Node | None = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        said = fault.problem or fault.context or ""
        if said.startswith("but "):
            said = f"{fault.context}, {said}"
        return Problem(f"not valid YAML: {said}", line=mark.line + 1 if mark else None)
    except RecursionError:
        return Problem(f"not valid YAML: nested deeper than {DEEPEST} levels")
    except yaml.YAMLError as fault:
        return Problem(f"not valid YAML: {' '.join(str(fault).split())}")
    return node


def _nodes(root: yaml.Node | None, intake: Intake) -> list[yaml.Node]:
    """The nodes of the samples."""
    if isinstance(root, yaml.MappingNode):
        found = [value for key, value in root.value if key.value == "samples"]
        if len(found) > 1:
            intake.add(Problem("key 'samples' is given twice: keep one", line=found[1].start_mark.line + 1))
        root = found[0] if found else root
    if isinstance(root, yaml.SequenceNode):
        return list(root.value)
    line = root.start_mark.line + 1 if root is not None else None
    intake.add(Problem("expected a list of samples, or a mapping with the list 'samples'", line=line))
    return []


def _rows(nodes: Iterable[yaml.Node], intake: Intake) -> Iterator[tuple[object, Place]]:
    plainer = _Plainer()
    for position, node in enumerate(nodes, start=1):
        value = plainer.value(node, "", DEEPEST)
        for line, path, message in plainer.problems:
            intake.add(Problem(message, line=line, field=path or None, sample=str(position)))
        if not plainer.problems:
            yield value, Place(node.start_mark.line + 1, position)
        plainer.problems.clear()


@dataclass(frozen=True, slots=True)
class _Plainer:
    """Turns nodes into JSON values and keeps what is wrong with them: line, field path, message."""

    problems: list[tuple[int, str, str]] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)
    _repeated: list[None] = field(default_factory=list)

    def value(self, node: yaml.Node, path: str, depth: int) -> Any:
        if id(node) in self._seen:
            self._repeated.append(None)
        self._seen.add(id(node))
        if depth <= 0 or len(self._repeated) > MOST_REPEATED:
            deep = f"nested deeper than {DEEPEST} levels, or an alias of itself"
            self._wrong(node, path, deep if depth <= 0 else f"aliases unfold to more than {MOST_REPEATED} values")
            return None
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.value(item, f"{path}[{index}]", depth - 1) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.value(key_node, path, depth - 1)
            if key_node.tag == f"{_TAG}merge":
                self._wrong(key_node, path, "the merge key '<<' is not read: write the keys out, or put it in quotes")
            elif not isinstance(key, str):
                self._wrong(key_node, path, f"a key must be text, found {kind_of(key)}: put it in quotes")
            elif key in found:
                self._wrong(key_node, path, f"key '{key}' is given twice: keep one")
            else:
                found[key] = self.value(value_node, f"{path}.{key}" if path else key, depth - 1)
        return found

    def _scalar(self, node: yaml.Node, path: str) -> Any:
        kind, text = node.tag.removeprefix(_TAG), node.value
        try:
            if kind in ("str", "merge"):
                return text
            if kind == "null":
                return None
            if kind == "bool":
                return {"true": True, "false": False}[text.lower()]
            if kind == "int":
                return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
            if kind == "float":
                # ".inf" and ".nan" become what they say, to be refused with the sample's other faults
                return float(re.sub(r"\.(?=inf|nan)", "", text.lower()))
        except (ValueError, KeyError):
            self._wrong(node, path, f"'{text[:40]}' is no {kind}")
            return None
        shown = f"!!{kind}" if node.tag.startswith(_TAG) else node.tag
        self._wrong(node, path, f"the tag '{shown}' is refused: expected plain data")
        return None

    def _wrong(self, node: yaml.Node, path: str, message: str) -> None:
        shown = path if len(path) <= LONGEST_PATH else f"{path[: LONGEST_PATH // 2]}…{path[-LONGEST_PATH // 4 :]}"
        self.problems.append((node.start_mark.line + 1, shown, message))


def write_yaml(samples: Iterable[Sample]) -> Iterator[bytes]:
    """A list in block style, keys in the order of the format."""
    empty = True
    for sample in samples:
        empty = False
        text: str = yaml.dump([sample.to_json()], Dumper=_BothDumper, **_LAYOUT)
        yield text.encode()
    if empty:
        yield b"[]\n"
