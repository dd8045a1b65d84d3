"""`genkit-eval list` and `genkit-eval show`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, run_files

RUN = ("run", "numbers.jsonl", "-t", "echo", "-e", "my/below")


def test_an_empty_store_says_so(genkit_eval: CommandLine, folder: Path) -> None:
    done = genkit_eval("list")

    assert (done.code, done.out) == (0, "no runs yet: genkit-eval run makes one\n")
    assert list(folder.iterdir()) == [folder / ".git"]


def test_runs_are_listed_newest_first(genkit_eval: CommandLine, app: Path) -> None:
    first = genkit_eval(*RUN, "--json").json["evalRunId"]
    second = genkit_eval(*RUN, "--json").json["evalRunId"]

    done = genkit_eval("list")

    _, *rows = done.out.splitlines()
    assert [row.split()[0] for row in rows[::2]] == [second, first]
    assert rows[0].endswith("4  echo on numbers.jsonl")
    assert rows[1::2] == ["  my/below 50 % of 4"] * 2


def test_runs_are_filtered(genkit_eval: CommandLine, app: Path) -> None:
    genkit_eval(*RUN)
    genkit_eval("run", "numbers.jsonl", "-t", "slow", "-e", "my/yes")

    targets = [run["actionRef"] for run in genkit_eval("list", "--target", "slow", "--json").json["runs"]]

    assert targets == ["/flow/slow"]


@pytest.mark.case("store-concurrency/one-corrupt-run")
def test_an_unreadable_run_costs_only_itself_and_the_exit_code_says_so(genkit_eval: CommandLine, app: Path) -> None:
    for _ in range(5):
        genkit_eval(*RUN)
    victim = run_files(app)[2]
    victim.write_bytes(victim.read_bytes()[:-40])

    done = genkit_eval("list")
    document = genkit_eval("list", "--json")

    assert done.code == document.code == 2
    assert sum("echo on" in line for line in done.out.splitlines()) == 4
    assert f"{victim.stem}  " in done.out
    assert "unreadable" in done.out
    assert victim.name in done.err
    assert len(document.json["runs"]) == 4
    assert list(document.json["unreadable"]) == [victim.stem]


def test_the_newest_run_is_shown_by_default(genkit_eval: CommandLine, app: Path) -> None:
    genkit_eval(*RUN)
    newest = genkit_eval(*RUN, "--json").json["evalRunId"]

    assert genkit_eval("show").out.splitlines()[0] == newest


def test_show_puts_failing_cases_first_with_their_reasons(genkit_eval: CommandLine, app: Path) -> None:
    genkit_eval("run", "numbers.jsonl", "-t", "fragile", "-e", "my/below")

    out = genkit_eval("show", "--all").out

    places = [out.index(f"n-{n}  ") for n in (2, 3, 0, 1)]
    assert places == sorted(places)
    assert r"error      ValueError: two is too much\nINFO" in out


def test_show_failed_leaves_out_the_others(genkit_eval: CommandLine, app: Path) -> None:
    genkit_eval(*RUN)

    results = genkit_eval("show", "--failed", "--json").json["results"]

    assert [row["testCaseId"] for row in results] == ["n-2", "n-3"]
    assert "n-1" not in genkit_eval("show", "--failed").out


def test_where_no_case_fails_show_of_those_says_so(genkit_eval: CommandLine, app: Path) -> None:
    genkit_eval("run", "numbers.jsonl", "-t", "echo", "-e", "my/yes")

    assert genkit_eval("show", "--failed").out.endswith("\n\nno case fails\n")


@pytest.mark.case("data-file/big-integers")
def test_big_integers_are_shown_digit_by_digit(genkit_eval: CommandLine, app: Path) -> None:
    row = {"input": {"order": 9007199254740993}, "reference": 9007199254740993}
    (app / "big.jsonl").write_text(json.dumps(row), encoding="utf-8")
    genkit_eval("run", "big.jsonl", "-t", "echo", "-e", "my/yes")

    assert '{"order":9007199254740993}' in genkit_eval("show", "--all").out
    assert genkit_eval("show", "--json").json["results"][0]["reference"] == 9007199254740993


@pytest.mark.case("security/terminal-escapes")
def test_outputs_cannot_act_on_the_terminal(genkit_eval: CommandLine, app: Path) -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07 ok \x1b]52;c;YQ==\x07"
    (app / "hostile.jsonl").write_text(json.dumps({"testCaseId": hostile, "input": hostile}), encoding="utf-8")
    genkit_eval("run", "hostile.jsonl", "-t", "echo", "-e", "my/said")

    for done in (genkit_eval("show", "--all"), genkit_eval("show", "--json"), genkit_eval("list")):
        assert all(line.isprintable() for line in done.out.splitlines())
    assert r"\x1b[2J" in genkit_eval("show", "--all").out


@pytest.mark.parametrize("name", ["nowhere", "../x", ""])
def test_an_unknown_run_is_refused(genkit_eval: CommandLine, app: Path, name: str) -> None:
    done = genkit_eval("show", name)

    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_show_without_any_run_says_so(genkit_eval: CommandLine) -> None:
    done = genkit_eval("show")

    assert done.code == 2
    assert "no runs yet: genkit-eval run makes one" in done.err


CHATS = [
    {"testCaseId": "a", "input": 1, "tags": ["billing", "vip"], "userId": "u1", "sessionId": "s1"},
    {"testCaseId": "b", "input": 3, "tags": ["returns"], "userId": "u1", "sessionId": "s2"},
    {"testCaseId": "c", "input": 1, "tags": ["billing"], "userId": "u2", "sessionId": "s3"},
    {"testCaseId": "d", "input": "u1 s1 billing"},
]


@pytest.fixture
def chats(genkit_eval: CommandLine, app: Path) -> str:
    (app / "chats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CHATS), encoding="utf-8")
    return str(genkit_eval("run", "chats.jsonl", "-t", "echo", "-e", "my/yes", "--json").json["evalRunId"])


@pytest.mark.parametrize(
    ("options", "cases"),
    [
        (("--user", "u1"), ["a", "b"]),
        (("--session", "s3"), ["c"]),
        (("--tag", "billing"), ["a", "c"]),
        (("--tag", "vip", "--tag", "returns"), ["a", "b"]),
        (("--tag", "billing", "--user", "u1"), ["a"]),
        (("--user", "u"), []),
    ],
)
def test_show_has_only_the_cases_asked_for_and_their_summary(
    genkit_eval: CommandLine, chats: str, options: tuple[str, ...], cases: list[str]
) -> None:
    document = genkit_eval("show", chats, *options, "--json").json

    assert [row["testCaseId"] for row in document["results"]] == cases
    assert document["cases"] == len(cases)
    assert [row["total"] for row in document["summary"] if row["total"]] == [len(cases)] * bool(cases)
    assert "metricSummaries" not in document["key"] or document["key"]["metricSummaries"] == []


def test_show_says_that_it_shows_a_part(genkit_eval: CommandLine, chats: str) -> None:
    out = genkit_eval("show", chats, "--session", "s2", "--all").out

    assert out.startswith("only cases of session 's2': 1 of 4 results\n")
    assert "b  ok" in out
    assert "a  ok" not in out


def test_runs_are_listed_by_whose_cases_they_have(genkit_eval: CommandLine, chats: str) -> None:
    genkit_eval(*RUN)

    listed = [run["evalRunId"] for run in genkit_eval("list", "--session", "s2", "--limit", "1", "--json").json["runs"]]

    assert listed == [chats]
    assert genkit_eval("list", "--session", "s9").out == "no such run\n"


def test_show_without_a_run_takes_the_newest_that_has_such_a_case(genkit_eval: CommandLine, chats: str) -> None:
    genkit_eval(*RUN)

    document = genkit_eval("show", "--tag", "vip", "--user", "u1", "--json").json
    nobody = genkit_eval("show", "--tag", "vip", "--tag", "x", "--user", "u9")

    assert (document["evalRunId"], [row["testCaseId"] for row in document["results"]]) == (chats, ["a"])
    assert (nobody.code, "no run has a case of tag 'vip' or 'x', user 'u9'" in nobody.err) == (2, True)


def test_show_says_whose_a_case_is_and_which_files_it_has(genkit_eval: CommandLine, app: Path) -> None:
    (app / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    row = {**CHATS[0], "attachments": ["a.png"]}
    (app / "one.jsonl").write_text(json.dumps(row), encoding="utf-8")
    genkit_eval("run", "one.jsonl", "-t", "echo", "-e", "my/yes")

    lines = [line.split() for line in genkit_eval("show", "--all").out.splitlines()]

    assert ["user", "u1"] in lines
    assert ["session", "s1"] in lines
    assert ["tags", "billing,", "vip"] in lines
    assert ["file", "a.png", f"(sha256:{hashlib.sha256((app / 'a.png').read_bytes()).hexdigest()[:12]}…)"] in lines
