"""Files are replaced whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from genkit_eval._files import Draft, file_checksum, locked, names_in, replace, sweep, try_lock


def test_a_draft_that_is_not_published_leaves_nothing(tmp_path: Path) -> None:
    with Draft(tmp_path / "a.json") as draft:
        draft.write(b"half")

    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old")

    def parts() -> object:
        yield b"new"
        raise RuntimeError("the source failed")

    with pytest.raises(RuntimeError):
        replace(path, parts())  # type: ignore[arg-type]  # a generator of bytes

    assert names_in(tmp_path) == ["a.json"]
    assert path.read_bytes() == b"old"


def test_create_never_touches_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "1.json"
    path.write_bytes(b"first")

    with Draft(path) as draft:
        draft.write(b"second")
        with pytest.raises(FileExistsError):
            draft.create()

    assert path.read_bytes() == b"first"
    assert names_in(tmp_path) == ["1.json"]


def test_a_place_can_be_filled_in_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with Draft(path) as draft:
        draft.write(b"<....>")
        draft.overwrite(1, b"know")
        draft.write(b"!")
        draft.replace()

    assert path.read_bytes() == b"<know>!"


@pytest.mark.case("store-concurrency/windows-replace-denied")
def test_a_replacement_that_is_denied_for_a_moment_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    denials = [PermissionError("a reader has it open"), PermissionError("still")]

    def rename(source: Path, target: Path) -> None:
        if denials:
            raise denials.pop()
        source.replace(target)

    replace(path, [b"new"], rename=rename)

    assert path.read_bytes() == b"new"
    assert names_in(tmp_path) == ["a.json"]


@pytest.mark.case("store-concurrency/windows-replace-denied")
def test_a_replacement_that_stays_denied_is_an_error_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old")

    def rename(source: Path, target: Path) -> None:
        raise PermissionError("no")

    with pytest.raises(PermissionError):
        replace(path, [b"new"], rename=rename)

    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["a.json"]


@pytest.mark.case("store-concurrency/stale-lock")
def test_the_lock_of_a_dead_process_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    code = "import os, sys; from genkit_eval._files import try_lock; try_lock(sys.argv[1]); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)

    assert path.exists()
    with locked(path, timeout_seconds=5):
        pass


@pytest.mark.case("store-concurrency/stale-lock")
def test_a_lock_that_is_held_all_the_time_is_an_error_that_names_it(tmp_path: Path) -> None:
    held = try_lock(tmp_path / ".lock")
    assert held is not None

    expected = pytest.raises(TimeoutError, match=r"held this lock for 0\.01 seconds.*\.lock")
    with expected, locked(tmp_path / ".lock", timeout_seconds=0.01):
        pass

    assert try_lock(tmp_path / ".lock") is None
    held.release()


def test_drafts_of_dead_processes_are_swept_and_nothing_else(tmp_path: Path) -> None:
    for name in (".a.json.12-ab.tmp", ".b.json.12-ab.tmp", "a.json", ".lock", "note.tmp"):
        (tmp_path / name).touch()

    sweep(tmp_path, "a.json")

    assert sorted(names_in(tmp_path)) == [".b.json.12-ab.tmp", ".lock", "a.json", "note.tmp"]


def test_the_checksum_tells_an_edit_of_the_same_length(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 3_000_000)
    before = file_checksum(path)

    path.write_bytes(b"x" * 2_999_999 + b"y")

    assert len(before) == len(file_checksum(path)) == 24
    assert before != file_checksum(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only where there are named pipes")
def test_what_is_no_file_is_written_into_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    replace(pipe, [b"one", b"two"])

    assert os.read(reader, 100) == b"onetwo"
    assert pipe.is_fifo()
    os.close(reader)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize("before", [b"old", None])
def test_a_link_is_followed(tmp_path: Path, before: bytes | None) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "a.json", tmp_path / "a.json"
    link.symlink_to(target)
    if before is not None:
        target.write_bytes(before)

    replace(link, [b"new"])

    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert names_in(target.parent) == ["a.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="modes are Unix's")
def test_a_file_that_was_closed_to_others_stays_so(tmp_path: Path) -> None:
    path = tmp_path / "private.csv"
    path.write_text("old")
    path.chmod(0o600)

    replace(path, [b"new"])

    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
