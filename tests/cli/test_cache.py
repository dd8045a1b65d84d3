"""`genkit-eval cache`, and the options that say what a run makes of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from genkit_eval.engine.asking.cache import CallCache, cache_path
from genkit_eval.testing import OpenAIServer
from tests.cli.conftest import CommandLine, run_files

HARMLESS = '{"reason": "It only says hello.", "verdict": false}'
JUDGED = ("run", "answers.json", "--no-target", "-e", "genkitEval/maliciousness", "--judge", "openai/a", "--yes")


@pytest.fixture
def answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with one answer, and an environment with a key and no proxy."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-NOTREAL")
    (folder / "answers.json").write_text(json.dumps([{"input": "Hi", "output": "Hello."}]), encoding="utf-8")
    return folder


def fill() -> None:
    cache = CallCache(cache_path())
    for key in "abc":
        cache.put(key, b"12345" * 1000, model="openai/a")
    cache.put("d", b"1", model="openai/b")
    cache.close()


def test_info_says_where_it_lies_and_how_much_is_kept_of_which_model(genkit_eval: CommandLine) -> None:
    fill()

    done = genkit_eval("cache", "info")

    assert done.code == 0
    path, summary, _, _, first, second = done.out.splitlines()
    assert path == str(cache_path())
    assert summary.startswith("4 replies of 2 models, ")
    assert "of at most 1.1 GB, last used 20" in summary
    assert first.split() == ["openai/a", "3", "15", "kB"]
    assert second.split() == ["openai/b", "1", "1", "bytes"]


def test_info_is_there_for_programs(genkit_eval: CommandLine) -> None:
    fill()

    told = genkit_eval("cache", "info", "--json").json

    assert (told["path"], told["replies"], told["mostBytes"]) == (str(cache_path()), 4, 1 << 30)
    assert told["models"][0] == {"model": "openai/a", "replies": 3, "sizeBytes": 15_000}
    assert told["lastUsed"].endswith("Z")


def test_looking_at_no_cache_makes_none(genkit_eval: CommandLine) -> None:
    info, clear = genkit_eval("cache", "info"), genkit_eval("cache", "clear")

    assert info.out.splitlines() == [str(cache_path()), "nothing is kept"]
    assert clear.out == "forgot 0 replies\n"
    assert genkit_eval("cache", "info", "--json").json["lastUsed"] is None
    assert not cache_path().parent.exists()


def test_clear_forgets_all_replies(genkit_eval: CommandLine) -> None:
    fill()

    done = genkit_eval("cache", "clear")

    assert (done.code, done.out) == (0, "forgot 4 replies\n")
    assert genkit_eval("cache", "info", "--json").json["replies"] == 0
    assert genkit_eval("cache", "clear", "--json").json == {"path": str(cache_path()), "forgotten": 0}


@pytest.mark.parametrize("verb", ["info", "clear"])
def test_a_cache_that_cannot_be_used_is_no_empty_one(genkit_eval: CommandLine, verb: str) -> None:
    cache_path().mkdir(parents=True)

    done = genkit_eval("cache", verb)

    assert (done.code, done.out) == (2, "")
    assert "Is a directory" in done.err


def test_a_damaged_cache_is_begun_anew_with_a_warning(genkit_eval: CommandLine) -> None:
    fill()
    os.truncate(cache_path(), 5000)

    done = genkit_eval("cache", "info")

    assert done.code == 0
    assert "is damaged" in done.err
    assert "nothing is kept" in done.out


def test_a_run_asks_its_judge_once_unless_it_is_told_otherwise(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    with OpenAIServer(HARMLESS) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        for options in ([], [], ["--no-cache"], ["--cache-only"]):
            assert genkit_eval(*JUDGED, *options).code == 0
            asked.append(len(server.calls))

    assert asked == [1, 1, 2, 2]
    uses = [json.loads(path.read_bytes())["key"].get("cache", "on") for path in run_files(answers)]
    assert sorted(uses) == ["off", "on", "on", "only"]


def test_with_the_cache_alone_what_it_lacks_is_a_failed_cell(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(HARMLESS) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = genkit_eval(*JUDGED, "--cache-only")

    assert done.code == 1
    assert "openai/a was not asked" in done.out
    assert server.calls == []


def test_the_two_options_exclude_each_other(genkit_eval: CommandLine, answers: Path) -> None:
    done = genkit_eval(*JUDGED, "--no-cache", "--cache-only")

    assert done.code == 2
    assert "exclude each other" in done.err


def test_doctor_says_where_the_cache_lies(genkit_eval: CommandLine) -> None:
    before = genkit_eval("doctor").out
    fill()

    assert f"{cache_path()}; not made yet" in before
    assert f"{cache_path()}, " in genkit_eval("doctor").out
