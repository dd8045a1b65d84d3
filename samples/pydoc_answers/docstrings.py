"""The docstrings installed with Python, as documents to search: what `help(…)` shows."""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

__all__ = ["Entry", "entries"]

MODULES = """
    base64 bisect calendar collections contextlib copy csv difflib fnmatch fractions functools getpass glob hashlib
    heapq html itertools json math operator pprint random re secrets shlex shutil statistics string tempfile textwrap
    time urllib.parse uuid zlib builtins
"""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`'\"(])|\n\s*\n")


@dataclass(frozen=True, slots=True)
class Entry:
    """A module, function, class or method by its full name, with its docstring."""

    name: str
    text: str

    def sentences(self) -> list[str]:
        """What can be quoted alone, each on one line; no signatures ("-->") and no examples (">>>")."""
        pieces = (" ".join(piece.split()) for piece in _SENTENCE_END.split(self.text))
        return [piece for piece in pieces if piece and "-->" not in piece and ">>>" not in piece] or [self.name]


def entries() -> list[Entry]:
    """Every documented public name of `MODULES`, in a fixed order.

    Raises:
        SystemExit: Python runs without docstrings.
    """
    found = [entry for module in MODULES.split() for entry in _of_module(module)]
    if len(found) < 800:
        raise SystemExit(
            f"only {len(found)} docstrings were found: this sample needs a Python that has them (not 'python -OO')"
        )
    return found


def _of_module(module_name: str) -> Iterator[Entry]:
    module = import_module(module_name)
    yield from _entry(module_name, module)
    prefix = "" if module is builtins else f"{module_name}."
    for name in sorted(getattr(module, "__all__", vars(module))):
        value = getattr(module, name)
        if name.startswith("_") or not callable(value) or _is_exception(value):
            continue
        # functions written in C may say that they are of the module's twin: _bisect for bisect
        if hasattr(module, "__all__") or getattr(value, "__module__", "").removeprefix("_") == module_name:
            yield from _entry(prefix + name, value)
            if inspect.isclass(value):
                yield from _of_class(prefix + name, value)


def _of_class(class_name: str, cls: type) -> Iterator[Entry]:
    for name, member in sorted(vars(cls).items()):
        if not name.startswith("_") and inspect.isroutine(member):
            yield from _entry(f"{class_name}.{name}", getattr(cls, name))


def _entry(name: str, value: object) -> Iterator[Entry]:
    text = inspect.getdoc(value)
    if text and text.strip():
        yield Entry(name, text)


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)
