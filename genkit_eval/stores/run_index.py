"""The index of runs, in Genkit's form: it serves listing, and is made anew from the run files when not usable."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from genkit_eval._data import collector_paused
from genkit_eval._files import names_in, replace
from genkit_eval._json import indented, load
from genkit_eval.errors import CorruptFile
from genkit_eval.stored import EvalRunKey
from genkit_eval.stores.run_file import read_key

__all__ = ["RunIndex", "run_files"]

_log = logging.getLogger(__name__)
_END = b"\n}"
_HEAVY = {"summary", "evaluators", "limits"}


class RunIndex:
    """Reads and changes one index; whoever changes it holds the lock of the store."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / "index.json"
        self._known: tuple[tuple[int, int, int], Mapping[str, Any]] | None = None

    def rows(self) -> Mapping[str, Any] | None:
        """The rows by run id; None when there is no index, or none that can be read."""
        try:
            status = self._path.stat()
            signature = (status.st_ino, status.st_size, status.st_mtime_ns)
            if self._known is None or self._known[0] != signature:
                with collector_paused():
                    rows = load(self._path.read_bytes())
                if not isinstance(rows, dict):
                    raise ValueError("it is not an object")
                self._known = signature, rows
        except FileNotFoundError:
            return None
        except ValueError as problem:
            _log.warning("%s is not readable (%s): the runs are listed from their own files", self._path, problem)
            return None
        return self._known[1]

    def put(self, key: EvalRunKey) -> None:
        """Add the row of a run, or replace it."""
        row = _row(key)
        appended = self._appended(key.eval_run_id, row)
        if appended is not None:
            replace(self._path, appended, durable=False)
        else:
            self.write({**self._usable_rows(), key.eval_run_id: row})

    def remove(self, run_id: str) -> None:
        """Take out the row of a run."""
        rows = dict(self._usable_rows())
        if rows.pop(run_id, None) is not None or self.rows() is None:
            self.write(rows)

    def write(self, rows: Mapping[str, Any]) -> None:
        """Write the whole index."""
        # not durable: after a power cut it is made anew
        replace(self._path, [indented(rows)], durable=False)

    def _usable_rows(self) -> Mapping[str, Any]:
        rows = self.rows()
        return rows if rows is not None else self.rebuilt({})

    def _appended(self, run_id: str, row: Mapping[str, Any]) -> list[bytes] | None:
        """The index with a row more, without parsing it; None if that is not so simple.

        Parsing and writing all rows at each of a thousand runs would take seconds.
        """
        try:
            old = self._path.read_bytes()
        except FileNotFoundError:
            return None
        name = indented(run_id)
        if not old.startswith(b'{\n  "') or not old.endswith(b"\n  }" + _END) or name in old:
            return None
        return [old[: -len(_END)], b",\n  ", name, b": ", indented(row).replace(b"\n", b"\n  "), _END]

    def rebuilt(self, rows: Mapping[str, Any]) -> dict[str, Any]:
        """Those rows whose run file is there, and a row of each other run file that can be read."""
        files = run_files(self._folder)
        found = {run_id: row for run_id, row in rows.items() if run_id in files}
        for run_id in sorted(files - found.keys()):
            path = self._folder / f"{run_id}.json"
            try:
                found[run_id] = _lean(read_key(path))
            except CorruptFile as problem:
                _log.warning("%s", problem)
            except FileNotFoundError:
                # deleted meanwhile
                continue
        return found


def _row(key: EvalRunKey) -> dict[str, Any]:
    return _lean(key.to_json())


def _lean(key: Mapping[str, Any]) -> dict[str, Any]:
    """What a listing needs: a thousand rows are read at once, and the run file has the rest."""
    return {name: value for name, value in key.items() if name not in _HEAVY}


def run_files(folder: Path) -> set[str]:
    """The ids of the finished runs, by their files."""
    names = {name.removesuffix(".json") for name in names_in(folder) if name.endswith(".json")}
    return {name for name in names if name != "index" and not name.startswith(".")}
