"""The cache of replies: what is kept is found again, by other processes too, and it never costs a run."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from genkit_eval import StoreError
from genkit_eval.engine.asking.cache import CallCache, KeptModel, cache_path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "calls.sqlite3"


@pytest.fixture
def cache(path: Path) -> Iterator[CallCache]:
    cache = CallCache(path)
    yield cache
    cache.close()


def keep(path: Path, *keys: str, size: int = 1, most_bytes: int = 1 << 30) -> None:
    cache = CallCache(path, most_bytes=most_bytes)
    for key in keys:
        cache.put(key, b"r" * size, model="p/m")
    cache.close()


def aged(path: Path, key: str, days: int) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE calls SET used_at = used_at - ? WHERE key = ?", (days * 86_400, key))
    db.close()


def spoil(path: Path, damage: str) -> None:
    if damage == "text":
        path.write_text("this is no database, whatever its name says\n" * 200, encoding="utf-8")
    elif damage == "torn":
        os.truncate(path, path.stat().st_size // 3)
    elif damage == "foreign table":
        path.unlink()
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE calls (name TEXT)")
        db.close()
    else:
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * (path.stat().st_size - 4096))


async def kept(path: Path, *keys: str) -> list[str]:
    cache = CallCache(path)
    found = [key for key in keys if await cache.get(key) is not None]
    cache.close()
    return found


@pytest.mark.anyio
async def test_what_is_put_is_found_at_once(cache: CallCache) -> None:
    cache.put("k", b'{"text":"yes"}', model="p/m")

    assert await cache.get("k") == b'{"text":"yes"}'


@pytest.mark.anyio
async def test_what_is_put_is_found_by_the_next_process(path: Path) -> None:
    keep(path, "k")

    assert await kept(path, "k", "other") == ["k"]


@pytest.mark.anyio
async def test_what_is_put_is_written_without_being_asked_for(cache: CallCache, path: Path) -> None:
    cache.put("k", b"reply", model="p/m")

    other, waiting = CallCache(path), threading.Event()
    while await other.get("k") is None:
        waiting.wait(0.005)
    other.close()


@pytest.mark.anyio
async def test_a_reply_put_again_takes_the_place_of_the_old_one(path: Path) -> None:
    for reply in (b"one", b"two"):
        cache = CallCache(path)
        cache.put("k", reply, model="p/m")
        cache.close()

    cache = CallCache(path)
    assert await cache.get("k") == b"two"
    assert cache.info().replies == 1
    cache.close()


@pytest.mark.anyio
async def test_info_tells_how_much_is_kept_of_which_model(cache: CallCache, path: Path) -> None:
    for key, model in (("a", "p/judge"), ("b", "p/judge"), ("c", "p/embedder")):
        cache.put(key, b"12345", model=model)
    cache.close()

    cache = CallCache(path)
    info = cache.info()
    cache.close()

    assert info.replies == 3
    assert info.models == [KeptModel("p/judge", 2, 10), KeptModel("p/embedder", 1, 5)]
    assert info.size_bytes >= 3 * 5
    assert info.last_used is not None
    assert datetime.now(UTC) - info.last_used < timedelta(minutes=5)


@pytest.mark.anyio
async def test_an_empty_cache_was_never_used(cache: CallCache) -> None:
    info = cache.info()

    assert info.replies == 0
    assert info.last_used is None


@pytest.mark.anyio
async def test_clear_forgets_everything_and_gives_the_room_back(path: Path) -> None:
    keep(path, *"abc", size=1_000_000)
    cache = CallCache(path)

    assert cache.clear() == 3
    assert await cache.get("a") is None
    assert cache.info().size_bytes < 100_000
    cache.put("d", b"reply", model="p/m")
    cache.close()
    assert await kept(path, *"abcd") == ["d"]


@pytest.mark.anyio
async def test_clear_needs_no_room(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keep(path, *"abc", size=100_000)
    cache = CallCache(path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    # a write is refused as a full disk would
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
    try:
        cleared = cache.clear()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        cache.close()

    assert cleared == 3
    assert "has no room to forget in" in caplog.text
    assert await kept(path, *"abc") == []


@pytest.mark.anyio
async def test_a_cache_that_another_one_clears_goes_on(path: Path) -> None:
    keep(path, "a")
    one, other = CallCache(path), CallCache(path)
    assert await one.get("a") == b"r"

    other.clear()
    other.close()
    found = await one.get("a")
    one.put("b", b"reply", model="p/m")
    one.close()

    assert found is None
    assert await kept(path, *"ab") == ["b"]


@pytest.mark.anyio
async def test_what_was_not_used_for_longest_goes_when_there_is_no_more_room(path: Path) -> None:
    keep(path, *"abcdefgh", size=50_000)
    for days, key in enumerate("abcdefgh"):
        aged(path, key, 30 - days)

    keep(path, "new", size=50_000, most_bytes=300_000)

    left = await kept(path, *"abcdefgh", "new")
    assert left[-1] == "new"
    assert 2 <= len(left) <= 6
    assert left == ["abcdefgh"[number] for number in range(9 - len(left), 8)] + ["new"]


@pytest.mark.anyio
async def test_what_is_read_counts_as_used(path: Path) -> None:
    keep(path, *"abcdefgh", size=50_000)
    for days, key in enumerate("abcdefgh"):
        aged(path, key, 30 - days)
    assert await kept(path, "a") == ["a"]

    keep(path, "new", size=50_000, most_bytes=300_000)

    assert await kept(path, "a", "b", "new") == ["a", "new"]


@pytest.mark.parametrize("damage", ["text", "torn", "foreign table"])
@pytest.mark.anyio
async def test_a_damaged_file_is_begun_anew_with_a_warning(
    path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    keep(path, *"abc", size=100_000)
    spoil(path, damage)

    cache = CallCache(path)
    found = [await cache.get(key) for key in "abc"]
    cache.put("d", b"reply", model="p/m")
    cache.close()

    assert found[-1] is None
    assert "is damaged" in caplog.text
    assert await kept(path, "d") == ["d"]
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1


@pytest.mark.anyio
async def test_a_file_damaged_while_it_is_written_is_begun_anew(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keep(path, *(f"k{number}" for number in range(200)), size=5_000)
    cache = CallCache(path)
    spoil(path, "all but its head")

    for number in range(200):
        cache.put(f"n{number}", b"reply" * 100, model="p/m")
    cache.close()

    assert "is damaged" in caplog.text
    assert await kept(path, "n0", "n199") == ["n0", "n199"]


@pytest.mark.anyio
async def test_a_file_damaged_while_it_is_read_is_begun_anew(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keep(path, *(f"k{number}" for number in range(200)), size=5_000)
    cache = CallCache(path)
    spoil(path, "all but its head")

    found = [await cache.get(f"k{number}") for number in range(200)]
    cache.put("new", b"reply", model="p/m")
    cache.close()

    assert found == [None] * 200
    assert "is damaged" in caplog.text
    assert await kept(path, "new") == ["new"]


@pytest.mark.anyio
async def test_what_does_not_fit_on_the_disk_is_not_kept(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keep(path, "a")
    cache = CallCache(path)
    assert cache._writer is not None
    # the disk of a test is never full: SQLite has a limit of its own
    cache._writer.execute("PRAGMA max_page_count = 10")

    for number in range(20):
        cache.put(f"n{number}", b"r" * 10_000, model="p/m")
    cache.close()

    assert "cannot be written" in caplog.text
    assert await kept(path, "a", "n0") == ["a"]


@pytest.mark.anyio
async def test_a_folder_that_cannot_be_made_costs_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    cache = CallCache(tmp_path / "file" / "calls.sqlite3")

    cache.put("k", b"reply", model="p/m")
    found = await cache.get("k")
    with pytest.raises(StoreError, match="cannot be told: it cannot be read"):
        cache.info()
    with pytest.raises(StoreError, match="was forgotten: it cannot be written"):
        cache.clear()
    cache.close()

    assert found is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "cannot be opened" in caplog.text
    assert "replies are not found and not kept for other runs" in caplog.text


@pytest.mark.anyio
async def test_a_cache_that_another_process_writes_into_is_read_meanwhile(path: Path) -> None:
    keep(path, "a")
    cache, writer = CallCache(path), sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM calls")

    found = await cache.get("a")

    assert found == b"r"
    writer.execute("ROLLBACK")
    writer.close()
    cache.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_the_user_can_read_what_is_kept(path: Path) -> None:
    keep(path, "a")

    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


WRITER = """
import sys
from pathlib import Path
from genkit_eval.engine.asking.cache import CallCache
path, name = Path(sys.argv[1]), sys.argv[2]
for turn in range(10):
    cache = CallCache(path)
    for number in range(20):
        cache.put(f"{name}-{turn}-{number}", b"own" * 500, model=name)
        cache.put(f"shared-{number}", b"shared" * 500, model="shared")
    cache.close()
"""


def test_processes_share_it(path: Path) -> None:
    names = ["one", "two", "three", "four"]
    processes = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], stderr=subprocess.PIPE, text=True)
                 for name in names]  # fmt: skip

    said = [process.communicate(timeout=60)[1] for process in processes]

    assert said == [""] * 4
    cache = CallCache(path)
    info = cache.info()
    assert {kept.model: kept.replies for kept in info.models} == {**dict.fromkeys(names, 200), "shared": 20}
    cache.close()
    assert anyio.run(kept, path, "shared-7") == ["shared-7"]


def test_a_folder_of_nobodys_home_is_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENKIT_EVAL_CACHE", "~no-such-user/x")

    assert cache_path() == Path("~no-such-user/x/calls-1.sqlite3")


def test_the_folder_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GENKIT_EVAL_CACHE", str(tmp_path))

    assert cache_path().parent == tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep caches elsewhere")
def test_without_a_name_it_is_in_the_folder_of_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GENKIT_EVAL_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    assert cache_path().parent == tmp_path / "genkit-eval"
