"""Prompts in files: a subset of dotprompt, rendered in one pass, with a digest that versions go by.

A prompt is text with `{{name}}` where a value goes and `{{role "system"}}` or `{{role "user"}}` where a message
begins; before it there may be YAML front matter that declares the names:

    ---
    input: [question, answer]
    ---
    {{role "system"}}
    You compare answers.
    {{role "user"}}
    Question: {{question}}
    Answer: {{answer}}

`\\{{` stands for two braces. There is nothing else: no conditions, no loops, no functions.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from pydantic import BaseModel

from genkit_eval.errors import ConfigError, UnknownName
from genkit_eval.models import Message

__all__ = ["FORM_FOLLOWS", "Prompt", "fence_marks", "fenced", "fenced_in", "json_instructions"]

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"\\\{\{|\{\{(.*?)\}\}", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ROLE = re.compile(r"""role\s+(["'])(system|user|assistant|model)\1""")
# as the templates of Llama, Qwen, DeepSeek, Mistral, Gemma, EXAONE, GLM, Nemotron, Baichuan, InternLM and MiniMax have
_CONTROL = re.compile(
    r"<[|｜][^\s<>]{1,60}>|<[^\s<>|｜]{1,60}[|｜]>|\[[|｜][^\s\[\]]{1,60}[|｜]\]"
    r"|</?(?:s|bos|eos|sop|eop|seed:\w{1,30})>|<(?:start|end)_of_(?:turn|utterance)>|<</?SYS>>"
    r"|<(?:extra_id_|reserved_|unused|SPECIAL_)\d{1,4}>|\[UNUSED_TOKEN_\d{1,4}\]"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|gMASK)\]|\]~!b\[|\]~b\]|\[e~\["
)


FORM_FOLLOWS = "Reply with one JSON object, and nothing before or after it, that fits this JSON Schema:"


@dataclass(frozen=True, slots=True)
class _Slot:
    """A place where the value of that name goes."""

    name: str


_Parts = tuple[str | _Slot, ...]


@dataclass(frozen=True)
class Prompt:
    """Messages with places for values; make one with `Prompt.load` or `Prompt.parse`."""

    name: str
    text: str
    inputs: tuple[str, ...]
    _messages: tuple[tuple[str, _Parts], ...]

    @classmethod
    def load(cls, path: Path | str) -> Prompt:
        """The prompt in a file; its name is the file's, without the ending.

        Raises:
            ConfigError: the file cannot be read, or is no prompt.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as problem:
            raise ConfigError(f"prompt file {path} cannot be read: {problem}") from problem
        return cls.parse(text, path.stem)

    @classmethod
    def parse(cls, text: str, name: str) -> Prompt:
        """A prompt from its text.

        Raises:
            ConfigError: something in it is not of the subset, or declared and used names differ.
        """
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        matter = _FRONT_MATTER.match(text)
        messages = _messages(text, matter.end() if matter else 0, name)
        used = dict.fromkeys(part.name for _, parts in messages for part in parts if isinstance(part, _Slot))
        declared = _declared(matter.group(1), name) if matter else None
        if declared is not None:
            _check_declared(declared, used, name)
        return cls(name, text, tuple(used if declared is None else declared), messages)

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change whenever the text does."""
        return blake2b(self.text.encode(), digest_size=6).hexdigest()

    def render(self, values: Mapping[str, str]) -> list[Message]:
        """The messages with the values in their places; a value is inserted as it is, never read as a template.

        Raises:
            ConfigError: a value is missing, or one is given that the prompt has no place for.
        """
        if values.keys() != set(self.inputs):
            for name in values:
                if name not in self.inputs:
                    raise ConfigError(f"prompt '{self.name}': {UnknownName('value', name, self.inputs)}")
            missing = ", ".join(name for name in self.inputs if name not in values)
            raise ConfigError(f"prompt '{self.name}': no value for {missing}")
        return [Message.trusted({"role": role, "content": _filled(parts, values)}) for role, parts in self._messages]


_FENCE = re.compile(r"<(?P<mark>data-[0-9a-f]{16})>\n(?P<inside>.*?)\n</(?P=mark)>", re.DOTALL)
_FENCE_TAG = re.compile(r"<(/?)(data-[0-9a-f]{16})>")


def fenced(text: str) -> str:
    """Untrusted text as a block between two marks with a random part, which the text cannot know and so not close.

    Control tokens of chat templates ("<|im_end|>"), which many servers obey inside a text too, get a space.
    """
    mark = f"data-{secrets.token_hex(8)}"
    return f"<{mark}>\n{_CONTROL.sub(_defused, text)}\n</{mark}>"


def fenced_in(text: str) -> str:
    """What stands in the fences of a rendered prompt: the judged texts."""
    return "\n".join(found["inside"] for found in _FENCE.finditer(text))


def fence_marks(text: str) -> list[str]:
    """The marks of the fences in a rendered prompt, in order; one inside a fence is only text."""
    tags = _FENCE_TAG.findall(text) if "<data-" in text else []
    # where each is closed at the latest: whoever looks for that from every opening reads a hostile text for minutes
    closed = {mark: place for place, (end, mark) in enumerate(tags) if end}
    marks: list[str] = []
    inside: str | None = None
    for place, (end, mark) in enumerate(tags):
        if inside is None and not end and closed.get(mark, -1) > place:
            inside = mark
            marks.append(mark)
        elif end and mark == inside:
            inside = None
    return marks


def json_instructions(output: type[BaseModel]) -> str:
    """What a model is told that cannot be given a JSON Schema otherwise."""
    schema = json.dumps(output.model_json_schema(), ensure_ascii=False)
    return f"{FORM_FOLLOWS}\n{schema}"


def _defused(token: re.Match[str]) -> str:
    return f"{token[0][0]} {token[0][1:]}"


def _filled(parts: _Parts, values: Mapping[str, str]) -> str:
    return "".join(part if isinstance(part, str) else values[part.name] for part in parts)


def _declared(matter: str, name: str) -> Sequence[str]:
    # 20 ms at import, and only a prompt needs it
    import yaml

    try:
        head = yaml.safe_load(matter)
    except yaml.YAMLError as problem:
        raise ConfigError(f"prompt '{name}': its front matter is not YAML: {problem}") from problem
    names = head.get("input") if isinstance(head, dict) else None
    for key in head if isinstance(head, dict) else ():
        if key not in ("input", "description"):
            raise ConfigError(
                f"prompt '{name}': '{key}' in its front matter has no effect here: leave it out (the model and its "
                "parameters are given to whoever uses the prompt)"
            )
    if isinstance(names, dict):
        names = names.get("schema")
    if isinstance(names, dict):
        # dotprompt marks an optional name with a question mark
        names = [str(key).rstrip("?") for key in names]
    if not isinstance(names, list) or not all(isinstance(item, str) for item in names):
        raise ConfigError(
            f"prompt '{name}': its front matter has no list of names: expected 'input: [question, answer]'"
        )
    return list(dict.fromkeys(names))


def _check_declared(declared: Collection[str], used: Collection[str], name: str) -> None:
    unused = ", ".join(item for item in declared if item not in used)
    undeclared = ", ".join(item for item in used if item not in declared)
    if unused:
        raise ConfigError(f"prompt '{name}' declares but never uses {unused}")
    if undeclared:
        raise ConfigError(f"prompt '{name}' uses but does not declare {undeclared}")


def _messages(text: str, start: int, name: str) -> tuple[tuple[str, _Parts], ...]:
    messages: list[tuple[str, list[str | _Slot]]] = [("user", [])]
    end = start
    for tag in _TAG.finditer(text, start):
        parts = messages[-1][1]
        parts.append(text[end : tag.start()])
        end = tag.end()
        inside = (tag[1] or "").strip()
        if tag[1] is None:
            parts.append("{{")
        elif role := _ROLE.fullmatch(inside):
            messages.append(("assistant" if role[2] == "model" else role[2], []))
        elif _NAME.fullmatch(inside):
            parts.append(_Slot(inside))
        else:
            line = text.count("\n", 0, tag.start()) + 1
            raise ConfigError(
                f"prompt '{name}', line {line}: {tag[0][:60]!r} is neither "
                '{{name}} nor {{role "system"}}, "user" or "assistant"; write \\{{ for two braces'
            )
    messages[-1][1].append(text[end:])
    stripped = [(role, _stripped(parts)) for role, parts in messages]
    if not any(parts for _, parts in stripped):
        raise ConfigError(f"prompt '{name}' is empty")
    return tuple((role, parts) for role, parts in stripped if parts)


def _stripped(parts: Sequence[str | _Slot]) -> _Parts:
    """Without blank text at both ends, and without empty pieces."""
    kept = [part for part in parts if part]
    if kept and isinstance(kept[0], str):
        kept[0] = kept[0].lstrip()
    if kept and isinstance(kept[-1], str):
        kept[-1] = kept[-1].rstrip()
    return tuple(part for part in kept if part)
