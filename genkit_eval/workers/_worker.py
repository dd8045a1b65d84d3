"""The process that runs JSONata expressions, and patterns too costly to trust, for `pool`.

It is started as `python -I _worker.py <sys.path as JSON>` and imports nothing of this package, so that it starts
quickly. A request on stdin and a reply on stdout are each four bytes of length (big-endian) and that much JSON:
`[operation, seconds, *arguments]` gives an object, with `error` when it failed and `retire` when this process
should not be used again. No request leaves anything behind that the next one could see.
"""

from __future__ import annotations

import gc
import importlib
import json
import math
import os
import re
import signal
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

__all__ = ["answer", "main"]

MEMORY_BYTES = 1 << 30
RETIRE_BYTES = 64 << 20
GRACE_SECONDS = 1.0
MAX_RANGE = 1_000_000
MAX_RESULT = 20_000
MAX_RESULT_DEPTH = 100
MAX_ERROR = 500
CHUNK = 1 << 16


class _Refused(Exception):
    """What the expression did is not allowed here."""


class _TooLong(Exception):
    """The result is too long to keep."""


def answer(operation: str, *arguments: Any) -> dict[str, Any]:
    """The reply to one request."""
    try:
        return _OPERATIONS[operation](*arguments)
    except MemoryError:
        return {"error": f"out of memory: it needs more than {MEMORY_BYTES >> 20} MiB", "retire": True}
    except RecursionError:
        return {"error": "it nests or recurses too deeply"}
    except _Refused as problem:
        return {"error": str(problem)}
    # whatever a user's expression provokes in the library is told to the caller, who raises it
    except Exception as problem:  # noqa: BLE001
        return {"error": _clean(_described(problem))[:MAX_ERROR]}


def _evaluate(expression: str, document: Any, longest: int = MAX_RESULT) -> dict[str, Any]:
    import jsonata

    result = _result(expression, document)
    if result is True or result is False:
        return {"verdict": result, "details": {"result": result}}
    reply: dict[str, Any] = {"verdict": bool(jsonata.Functions.to_boolean(result))}
    if result is None:
        reply["reason"] = "the result is undefined: nothing in the output matches"
        return reply
    if _is_function(result):
        reply["reason"] = "the result is a function"
        return reply
    try:
        reply["details"] = {"result": _plain(result, [longest], MAX_RESULT_DEPTH)}
    except _TooLong:
        reply["details"] = {"resultOmitted": _size(result)}
    return reply


def _transform(expression: str, document: Any, longest: int) -> dict[str, Any]:
    """What the expression makes of the document: `result`, which is absent where it is undefined."""
    result = _result(expression, document)
    if result is None:
        return {}
    if _is_function(result):
        raise _Refused("the result is a function")
    try:
        return {"result": _plain(result, [longest], MAX_RESULT_DEPTH)}
    except _TooLong:
        raise _Refused(f"the result is too much: {_size(result)}") from None


def _result(expression: str, document: Any) -> Any:
    import jsonata

    program = _compiled(expression)
    # the library looks up "the current expression" (its clock, its $eval scope) here and sets it only when compiling
    jsonata.Jsonata.CURRENT.jsonata = program
    null = jsonata.Utils.NULL_VALUE
    return program.evaluate(null if document is None else document, _frame_class()(None))


def _check(expression: str) -> dict[str, Any]:
    _compiled(expression)
    return {}


def _search(pattern: str, text: str) -> dict[str, Any]:
    import regex

    try:
        return {"found": regex.compile(pattern).search(text) is not None}
    except regex.error as problem:
        return {"error": str(problem), "invalid": True}
    except (RecursionError, ValueError) as problem:
        return {
            "error": "it nests too deeply" if isinstance(problem, RecursionError) else str(problem),
            "invalid": True,
        }


_OPERATIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "jsonata": _evaluate,
    "transform": _transform,
    "check": _check,
    "regex": _search,
}


@lru_cache(maxsize=256)
def _compiled(expression: str) -> Any:
    program = _program_class()(expression)
    # what arrives as JSON needs no check of its types, and null must stay apart from undefined
    program.set_validate_input(False)
    program.set_output_convert_nulls(False)
    return program


@lru_cache(maxsize=1)
def _frame_class() -> Any:
    import jsonata

    class Frame(jsonata.Jsonata.Frame):  # type: ignore[misc]  # jsonata-python has no types
        """Variables of one scope; the library's own lets an expression reach two things that outlive it."""

        def bind(self, name: str, val: Any) -> None:
            """Bind, without writing the variable's name into a built-in function shared by all expressions."""
            if name.startswith("__evaluate_"):
                raise _Refused(f"the variable ${name} is reserved")
            self.bindings[name] = val

        def lookup(self, name: str) -> Any:
            """The value of a variable: a loop, and none for the hooks that are asked for at every step."""
            if name.startswith("__evaluate_"):
                return None
            frame = self
            while frame is not None:
                if name in frame.bindings:
                    return frame.bindings[name]
                frame = frame.parent
            return None

    return Frame


@lru_cache(maxsize=1)
def _program_class() -> Any:
    import jsonata

    frame = _frame_class()

    class Program(jsonata.Jsonata):  # type: ignore[misc]  # jsonata-python has no types
        """A compiled expression whose scopes are ours and whose ranges are bounded."""

        def create_frame(self, enclosing_environment: Any = None) -> Any:
            """A scope of ours."""
            return frame(enclosing_environment)

        def evaluate_range_expression(self, lhs: Any, rhs: Any) -> Any:
            """`[lhs..rhs]`, of a million numbers at most."""
            if isinstance(lhs, int) and isinstance(rhs, int) and rhs - lhs >= MAX_RANGE:
                raise _Refused(f"the range {lhs}..{rhs} has more than {MAX_RANGE} numbers")
            return super().evaluate_range_expression(lhs, rhs)

    return Program


def _described(problem: Exception) -> str:
    code, where = getattr(problem, "error", ""), getattr(problem, "location", -1)
    if not isinstance(code, str) or not code:
        return "division by zero" if isinstance(problem, ZeroDivisionError) else f"{type(problem).__name__}: {problem}"
    text = str(problem)
    if code in ("T2007", "T2009"):
        first, second = (_kind(getattr(problem, side, None)) for side in ("current", "expected"))
        text = f"{text}: {first} and {second}"
    place = f" at position {where}" if isinstance(where, int) and (where > 0 or code.startswith("S")) else ""
    return f"{text} ({code}{place})"


def _kind(value: Any) -> str:
    names = ((bool, "a boolean"), (int | float, "a number"), (str, "a string"), (list, "an array"), (dict, "an object"))
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def _is_function(value: Any) -> bool:
    return value is not None and not isinstance(value, bool | int | float | str | list | dict) and not _is_null(value)


def _is_null(value: Any) -> bool:
    import jsonata

    return value is jsonata.Utils.NULL_VALUE


def _plain(value: Any, budget: list[int], depth: int) -> Any:
    """The JSON form of a result; functions inside it are empty text, as JSONata's own $string has them."""
    budget[0] -= 1 + (len(value) if isinstance(value, str) else 0)
    if budget[0] < 0 or depth < 0:
        raise _TooLong
    if value is None or _is_null(value):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        raise _Refused(f"the result holds the number {value}, which is not finite")
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        return {_clean(str(key)): _plain(item, budget, depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, budget, depth - 1) for item in value]
    return ""


def _size(value: Any) -> str:
    if isinstance(value, str):
        return f"text of {len(value)} characters"
    noun = "keys" if isinstance(value, dict) else "items"
    return f"{_kind(value)} with {len(value)} {noun}, too long or too deep to keep"


def _clean(text: str) -> str:
    """Text without halves of surrogate pairs, which an expression can write as "\\ud83d"."""
    if not re.search("[\ud800-\udfff]", text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _limit_resources() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "setitimer"):
        # by its default action the alarm ends this process inside the kernel, even if the interpreter is stuck
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    except (ImportError, ValueError, OSError):
        # Windows has no such limits, and some systems refuse this one: the deadline remains
        pass


def _address_space() -> Callable[[], int]:
    """What the memory limit counts, in bytes; 0 where the system does not tell."""
    try:
        statm = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return lambda: 0
    page = os.sysconf("SC_PAGE_SIZE")
    return lambda: int(os.pread(statm, 32, 0).split()[0]) * page


def _read(source: int) -> bytearray:
    """The next request; there is never more than one in the pipe."""
    data = bytearray()
    while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "big"):
        chunk = os.read(source, CHUNK)
        if not chunk:
            # the parent is gone, or wants us gone
            os._exit(0)
        data += chunk
    return data[4:]


def _load(data: bytearray) -> Any:
    # found only after main() completed sys.path
    import orjson

    # integers beyond 64 bits have at least 19 digits; orjson would make floats of them
    return json.loads(data) if re.search(rb"[0-9]{19}", data) else orjson.loads(data)


def _write(sink: int, reply: dict[str, Any]) -> None:
    import orjson

    try:
        data = orjson.dumps(reply)
    except TypeError:
        data = json.dumps(reply).encode()
    view = memoryview(_framed(data))
    while view:
        view = view[os.write(sink, view) :]


def _framed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _serve(source: int, sink: int) -> None:
    set_alarm = getattr(signal, "setitimer", lambda *_: None)
    real = getattr(signal, "ITIMER_REAL", 0)
    size = _address_space()
    most = size() + RETIRE_BYTES
    while True:
        data = _read(source)
        try:
            operation, seconds, *arguments = _load(data)
            # if the parent dies while we run, nobody else would stop us
            set_alarm(real, seconds + GRACE_SECONDS)
            reply = answer(operation, *arguments)
        except (MemoryError, RecursionError):
            reply = {"error": "the output is too large or too deeply nested for a worker process", "retire": True}
        set_alarm(real, 0)
        if size() > most:
            # memory that stays taken would make the next expression meet the limit earlier
            reply["retire"] = True
        _write(sink, reply)


def main() -> None:
    """Serve requests until stdin ends."""
    _limit_resources()
    # the libraries that the parent finds, in odd installs too; but not those that lie in its working directory
    sys.path[:] = [path for path in json.loads(sys.argv[1]) if path]
    # a library that prints must not write into the replies
    sink = os.dup(1)
    os.dup2(2, 1)
    try:
        for library in ("orjson", "jsonata", "regex"):
            importlib.import_module(library)
    except ImportError as problem:
        os.write(sink, _framed(json.dumps({"error": str(problem)}).encode()))
        return
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    _write(sink, {})
    try:
        _serve(0, sink)
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()
