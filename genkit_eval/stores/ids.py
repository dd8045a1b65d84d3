"""Ids that are file names: which are allowed, and how new ones are made."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime

from genkit_eval.errors import InvalidId

__all__ = ["check_id", "new_dataset_id", "new_run_id", "opens_in_genkit"]

_ALLOWED = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_GENKIT = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{4,34}[A-Za-z0-9]")
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})


def check_id(kind: str, value: object) -> str:
    """The id, if it can be a file name on every system; `kind` names it in the error.

    Raises:
        InvalidId: it cannot.
    """
    if not isinstance(value, str):
        raise InvalidId(kind, value, f"is {type(value).__name__}, not text")
    # fullmatch, because $ would let a trailing newline through
    if _ALLOWED.fullmatch(value) is None:
        raise InvalidId(kind, value, "cannot be a file name everywhere")
    if value.lower() == "index":
        raise InvalidId(kind, value, "is the name of the folder's index")
    # Windows opens the device whatever follows the first dot
    if value.split(".", 1)[0].lower() in _DEVICES:
        raise InvalidId(kind, value, "is the name of a device on Windows")
    return value


def opens_in_genkit(dataset_id: str) -> bool:
    """Whether the web interface of Genkit's tools can open a dataset of this id: it is stricter than we are."""
    return _GENKIT.fullmatch(dataset_id) is not None


def new_run_id() -> str:
    """An id for a run: sorts by time, is random enough for any number of processes, opens everywhere."""
    return f"run-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def new_dataset_id() -> str:
    """An id for a dataset nobody named."""
    return f"dataset-{secrets.token_hex(6)}"
