"""One version of a dataset in one file that never changes: `versions/<id>/<n>.json`.

It is JSON in three lines: what describes it (with the checksum of its samples as `<id>.json` holds them), what is
ours of the samples, and the samples as Genkit holds them. So a listing reads one line, and a copy is cut out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import ValidationError

from genkit_eval._data import collector_paused
from genkit_eval._files import Checksum, Draft
from genkit_eval._json import dump, load
from genkit_eval.errors import CorruptFile
from genkit_eval.stored import DatasetMetadata
from genkit_eval.stores.dataset_samples import Rows

__all__ = ["SampleText", "Version", "write_version"]

_CHUNK = 1000
_ADVICE: Final = "restore it from a backup, or take it away: then the version before it counts"
_PLACEHOLDER = b"0" * 24
_Text = tuple[bytes, bool]
"""JSON text, and whether it may hold integers beyond 64 bits."""
_EXTRAS, _SAMPLES = b'"extras":', b'"samples":'


@dataclass(frozen=True, slots=True)
class SampleText:
    """Samples that are JSON text already: of another version, or of a file that another tool wrote."""

    samples: _Text
    extras: _Text


@dataclass(frozen=True, slots=True)
class Version:
    """A version that is stored: its metadata, and the checksum of its samples as `<id>.json` holds them."""

    path: Path
    metadata: DatasetMetadata
    checksum: str
    exact: bool
    """Whether it may hold integers beyond 64 bits, which need the careful parser."""

    @classmethod
    def open(cls, path: Path) -> Version:
        """Read what describes it.

        Raises:
            CorruptFile: the file is not a version of ours.
        """
        with path.open("rb") as file:
            line = file.readline()
        try:
            head = load(line.rstrip(b",\n") + b"}")
            metadata = DatasetMetadata.model_validate(head["metadata"])
            return cls(path, metadata, head["checksum"], head["exact"] == "yes")
        except (ValueError, ValidationError, KeyError, TypeError) as problem:
            raise CorruptFile(path, "is not a version of a dataset", advice=_ADVICE) from problem

    def rows(self) -> Rows:
        """The samples, parsed."""
        with ExitStack() as stack:
            extras, samples = self._parts(stack)
            try:
                with collector_paused():
                    parsed_extras = orjson.loads(extras) if not self.exact else load(extras)
                    return orjson.loads(samples) if not self.exact else load(samples), parsed_extras
            except ValueError as problem:
                raise CorruptFile(self.path, f"its samples are not JSON ({problem})", advice=_ADVICE) from problem
            finally:
                extras.release()
                samples.release()

    def text(self) -> SampleText:
        """The samples as JSON text."""
        return SampleText((self.raw_samples(), self.exact), (self.raw_extras(), self.exact))

    def raw_samples(self) -> bytes:
        """The samples as JSON text, as `<id>.json` holds them."""
        return self._raw(1)

    def raw_extras(self) -> bytes:
        """The further keys of the samples as JSON text."""
        return self._raw(0)

    def _raw(self, part: int) -> bytes:
        with ExitStack() as stack:
            parts = self._parts(stack)
            try:
                return bytes(parts[part])
            finally:
                for view in parts:
                    view.release()

    def _parts(self, stack: ExitStack) -> tuple[memoryview, memoryview]:
        # mapped, because copying 100 MB costs a fifth of parsing it; the file is never written again
        file = stack.enter_context(self.path.open("rb"))
        data = stack.enter_context(mmap(file.fileno(), 0, access=ACCESS_READ))
        view = stack.enter_context(memoryview(data))
        first = data.find(b"\n") + 1
        second = data.find(b"\n", first) + 1
        whole = data[first : first + len(_EXTRAS)] == _EXTRAS and data[second : second + len(_SAMPLES)] == _SAMPLES
        # a file that another tool wrote may end with a line break
        if not whole or not data[-64:].endswith(b"}") or not data[-64:-1].rstrip().endswith(b"]"):
            raise CorruptFile(self.path, "is cut off", advice=_ADVICE)
        return view[first + len(_EXTRAS) : second - 2], view[second + len(_SAMPLES) : -1]


def write_version(draft: Draft, copy: Draft | None, metadata: DatasetMetadata, samples: Rows | SampleText) -> Version:
    """Write the draft of a version and, in the same pass, that of its copy `<id>.json`."""
    if isinstance(samples, SampleText):
        extras, pieces = samples.extras, iter([samples.samples])
    else:
        extras, pieces = _text(samples[1]), _encoded(samples[0])
    start = b'{"metadata":' + dump(metadata.to_json()) + b',"checksum":"'
    draft.write(start + _PLACEHOLDER + b'","exact":"no ",\n')
    draft.write(_EXTRAS + extras[0] + b",\n" + _SAMPLES)
    checksum, exact = Checksum(), extras[1]
    with collector_paused():
        for data, is_exact in pieces:
            checksum.update(data)
            exact = exact or is_exact
            draft.write(data)
            if copy is not None:
                copy.write(data)
    draft.write(b"}")
    value = checksum.text()
    draft.overwrite(len(start), value.encode() + b'","exact":"' + (b"yes" if exact else b"no "))
    return Version(draft.path, metadata, value, exact)


def _text(value: object) -> _Text:
    try:
        return orjson.dumps(value), False
    except TypeError:
        return dump(value), True


def _encoded(rows: Sequence[dict[str, Any]]) -> Iterator[_Text]:
    """The JSON text of the list, in pieces."""
    yield b"[", False
    for start in range(0, len(rows), _CHUNK):
        data, exact = _text(rows[start : start + _CHUNK])
        yield (b"," if start else b"") + data[1:-1], exact
    yield b"]", False
