"""`genkit-eval cache`."""

from __future__ import annotations

from typing import Any

import click

from genkit_eval.cli.help import VerbGroup
from genkit_eval.cli.options import Verb
from genkit_eval.cli.output import columns, say, say_json
from genkit_eval.engine.asking.cache import CacheInfo, CallCache, cache_path
from genkit_eval.report.documents import json_pieces
from genkit_eval.report.lines import Line, blank, line
from genkit_eval.report.numbers import counted, storage
from genkit_eval.report.tables import Column, Row, table
from genkit_eval.types import iso_time

__all__ = ["command"]

_COLUMNS = (Column("model", least=20), Column("replies", right=True), Column("size", right=True))


@click.group("cache", cls=VerbGroup)
def command() -> None:
    """Replies of judges and embedders that are kept between runs, so that the same request is not paid for twice.

    They lie in the folder that GENKIT_EVAL_CACHE names, else in yours for caches. What was not used for longest goes
    when there are too many. Failures, refusals and replies that were cut off are never kept.

    \b
    Examples:
      genkit-eval cache info
      genkit-eval cache clear
    """


@command.command("info", cls=Verb)
def info(**options: Any) -> int:
    """Say where the cache lies, and how much is kept of which model.

    \b
    Example:
      genkit-eval cache info
    """
    if not cache_path().exists():
        # whoever looks makes no file
        found = CacheInfo(cache_path(), size_bytes=0, last_used=None, models=())
    else:
        cache = CallCache(cache_path())
        found = cache.info()
        cache.close()
    if options["as_json"]:
        say_json(json_pieces(_document(found)))
    else:
        say(_lines(found))
    return 0


@command.command("clear", cls=Verb)
def clear(**options: Any) -> int:
    """Forget all replies. Runs keep theirs; one that is in progress goes on.

    \b
    Example:
      genkit-eval cache clear
    """
    forgotten = 0
    if cache_path().exists():
        cache = CallCache(cache_path())
        forgotten = cache.clear()
        cache.close()
    if options["as_json"]:
        say_json(json_pieces({"path": str(cache_path()), "forgotten": forgotten}))
    else:
        say([line(f"forgot {_replies(forgotten)}")])
    return 0


def _replies(count: int) -> str:
    return f"{count} {'reply' if count == 1 else 'replies'}"


def _lines(found: CacheInfo) -> list[Line]:
    lines = [line(str(found.path))]
    if not found.models:
        return [*lines, line("nothing is kept")]
    of_all = f"{storage(found.size_bytes)} of at most {storage(found.most_bytes)}"
    used = "" if found.last_used is None else f", last used {iso_time(found.last_used)[:16].replace('T', ' ')} UTC"
    lines.append(line(f"{_replies(found.replies)} of {counted(len(found.models), 'model')}, {of_all}{used}"))
    rows = [Row([kept.model, str(kept.replies), storage(kept.size_bytes)]) for kept in found.models]
    return [*lines, blank(), *table(_COLUMNS, rows, width=columns())]


def _document(found: CacheInfo) -> dict[str, Any]:
    return {
        "path": str(found.path),
        "replies": found.replies,
        "sizeBytes": found.size_bytes,
        "mostBytes": found.most_bytes,
        "lastUsed": None if found.last_used is None else iso_time(found.last_used),
        "models": [
            {"model": kept.model, "replies": kept.replies, "sizeBytes": kept.size_bytes} for kept in found.models
        ],
    }
