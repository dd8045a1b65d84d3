"""Files that belong to a case: what is taken, known again by the digest of its content, read when it is needed."""

from __future__ import annotations

import binascii
import hashlib
import os
import re
import stat
from base64 import b64decode, b64encode
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from genkit_eval.errors import DataError
from genkit_eval.types import Attachment

__all__ = ["MOST_BYTES", "PDF", "SVG", "content_of", "is_elsewhere", "made_of", "taken_in", "title_of"]

MOST_BYTES = 20 * 1024 * 1024
PDF = "application/pdf"
SVG = "image/svg+xml"
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
HEAD = 4096
"""Bytes at the beginning that tell what a file is."""


def taken_in(given: Attachment, folder: Path) -> Attachment:
    """An attachment that is there, with its name, its kind by its content, and its digest.

    Args:
        given: a path may be relative.
        folder: which that is relative to.

    Raises:
        DataError: it is missing, larger than 20 MB, no PDF, PNG, JPEG, WEBP or SVG, or not what its digest says.
    """
    if (given.path is None) == (given.url is None):
        which = "neither" if given.path is None else "both"
        raise DataError(f"expected the 'path' of a file, or a 'url' that begins with data:, and found {which}")
    if given.path is not None and _ADDRESS.match(given.path):
        raise DataError(f"{given.path[:80]!r} is an address, and no path: give the file's path, like files/a.pdf")
    if is_elsewhere(given):
        return given
    path = None if given.path is None else Path(os.path.abspath(folder / given.path))  # noqa: PTH100 - links stay
    known = given.model_copy(update={"path": path and str(path), "name": given.name or (path and path.name)})
    kind, digest = _told(known)
    if given.digest not in (None, digest):
        raise DataError(
            f"{title_of(known)} has changed: its digest is {digest}, and was {given.digest}: bring back what it was, "
            "or give the sample without a digest"
        )
    found = {"path": known.path, "url": known.url, "name": known.name, "media_type": kind, "digest": digest}
    return Attachment.trusted({name: value for name, value in found.items() if value is not None})


def made_of(content: bytes | Path | str, name: str | None = None) -> Attachment:
    """What a target made, as an attachment that holds all of it: the file may be overwritten by the next case.

    Args:
        content: the bytes, a path that is read now, or an address that begins with "data:". One of http stays what it
            is. A text is never taken for a path: it may come from a server or a model, which must not choose what of
            this machine is read.
        name: what it is called; of a file its own, if it is not said.

    Raises:
        DataError: it cannot be read, is larger than 20 MB, or no PDF, PNG, JPEG, WEBP or SVG.
    """
    if isinstance(content, str):
        if not content[:8].lower().startswith(("data:", "https://", "http://")):
            raise DataError(
                f"{content[:80]!r} is no address that begins with data: (a text is not taken for the path of a file: "
                "give bytes or a Path to record_attachment)"
            )
        given = Attachment(url=content) if name is None else Attachment(url=content, name=name)
        return taken_in(given, Path())
    if isinstance(content, Path):
        known = Attachment(path=str(content), name=name or content.name)
        content = _bytes(known)
    else:
        known = Attachment(name=name or "what the target made")
        if len(content) > MOST_BYTES:
            raise _too_large(title_of(known), len(content))
    kind, digest = _kind_and_digest(known, content)
    url = f"data:{kind};base64,{b64encode(content).decode()}"
    named = {"name": known.name} if name or known.path else {}
    return Attachment.trusted({"url": url, **named, "media_type": kind, "digest": digest})


def content_of(attachment: Attachment) -> bytes:
    """All its bytes.

    Raises:
        DataError: it cannot be read, is larger than 20 MB, or is no longer what its digest says.
    """
    data = _bytes(attachment)
    if attachment.digest not in (None, _digest(data)):
        raise DataError(f"{title_of(attachment)} is no longer what it was when its sample was read")
    return data


def is_elsewhere(attachment: Attachment) -> bool:
    """Whether it lies on another machine: nothing is fetched from there."""
    return attachment.url is not None and urlsplit(attachment.url[:10]).scheme in ("http", "https")


def title_of(attachment: Attachment) -> str:
    """What messages and prompts call it; of an address, not what may let one in there."""
    if attachment.name or attachment.path or not attachment.url:
        return attachment.name or attachment.path or "an attachment"
    if not is_elsewhere(attachment):
        return attachment.url[:60].partition(",")[0]
    address = urlsplit(attachment.url)
    return f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path}"


def _told(attachment: Attachment) -> tuple[str, str]:
    """Kind and digest; of a file that has not changed since they are known."""
    if attachment.path is None:
        return _kind_and_digest(attachment, _bytes(attachment))
    status = _status(attachment.path, title_of(attachment))
    return _of_file(attachment, status.st_mtime_ns, status.st_size)


# a file is looked at when its data are checked, and again when they are read
@lru_cache(maxsize=4096)
def _of_file(attachment: Attachment, changed: int, size: int) -> tuple[str, str]:
    return _kind_and_digest(attachment, _bytes(attachment))


def _kind_and_digest(attachment: Attachment, data: bytes) -> tuple[str, str]:
    kind = _kind(data)
    if kind is None:
        raise DataError(f"{title_of(attachment)} is none of PDF, PNG, JPEG, WEBP and SVG")
    return kind, _digest(data)


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _kind(data: bytes) -> str | None:
    head = data[:HEAD]
    if b"%PDF-" in head[:1024]:
        return PDF
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return SVG if start.startswith(b"<") and b"<svg" in start else None


def _bytes(attachment: Attachment) -> bytes:
    title = title_of(attachment)
    if attachment.path is not None:
        _status(attachment.path, title)
        try:
            with Path(attachment.path).open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as problem:
            raise DataError(f"{title} cannot be read: {problem.strerror}") from problem
    else:
        data = _inline(attachment.url or "", title)
    if len(data) > MOST_BYTES:
        raise _too_large(title, len(data))
    return data


def _status(path: str, title: str) -> os.stat_result:
    try:
        status = Path(path).stat()
    except (OSError, ValueError) as problem:
        # as a cell of a table may hold them
        several = '; several are a list, ["a.pdf", "b.png"]' if re.search(r"[,;|]", path) else ""
        why = getattr(problem, "strerror", problem)
        where = "" if path == title else f" ({path})"
        raise DataError(f"{title} cannot be read: {why}{where}{several}") from problem
    if not stat.S_ISREG(status.st_mode):
        raise DataError(f"{title} is no file ({path})")
    if status.st_size > MOST_BYTES:
        raise _too_large(title, status.st_size)
    return status


def _too_large(title: str, size: int) -> DataError:
    return DataError(f"{title} has {size / 1024 / 1024:.1f} MB: an attachment has 20 MB at most")


def _inline(url: str, title: str) -> bytes:
    head, comma, body = url.partition(",")
    if not head[:5].lower().startswith("data:") or not comma:
        raise DataError(f"{title} is no address that can be read: expected one that begins with data:, or a 'path'")
    if len(body) > MOST_BYTES * 3:
        raise _too_large(title, len(body))
    try:
        return b64decode(body, validate=True) if head.endswith(";base64") else unquote_to_bytes(body)
    except (binascii.Error, ValueError) as problem:
        raise DataError(f"{title} is not in base64, as it says: {problem}") from problem
