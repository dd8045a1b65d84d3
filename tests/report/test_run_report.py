"""What is said about a run, and about its cases."""

from __future__ import annotations

import pytest

from genkit_eval.report.cases import Concern, case_lines, concern_of
from genkit_eval.report.lines import rendered
from genkit_eval.report.run_report import run_lines, show_lines
from tests.report.conftest import MakeRun
from tests.report.rows import broke, failed, inconclusive, metric, passed, result


def lines_of_case(*args: object, width: int = 80, brief: bool = False, **values: object) -> list[str]:
    return list(rendered(case_lines(result(1, *args, **values), width=width, brief=brief), colour=False))  # type: ignore[arg-type]


def test_what_broke_comes_before_what_is_wrong(make_run: MakeRun) -> None:
    run = make_run([result(1, passed()), result(2, failed()), result(3, broke())])

    text = "\n".join(rendered(run_lines(run, width=80), colour=False))

    assert "2 of 3 cases fail" in text
    assert text.index("case-3  FAILED") < text.index("case-2  FAIL")
    assert "case-1" not in text


def test_only_the_first_failing_cases_are_shown_and_counted(make_run: MakeRun) -> None:
    run = make_run([result(i, failed(rationale=f"reason {i}")) for i in range(9)])

    text = "\n".join(rendered(run_lines(run, width=80, most=5), colour=False))

    assert "9 of 9 cases fail, the first 5 of them" in text
    assert "reason 4" in text
    assert "reason 5" not in text


def test_every_case_is_shown_on_demand(make_run: MakeRun) -> None:
    run = make_run([result(1, passed()), result(2, failed()), result(3, inconclusive())])

    text = "\n".join(rendered(show_lines(run, width=80, every=True), colour=False))

    assert [text.index(f"case-{n}") for n in (2, 3, 1)] == sorted(text.index(f"case-{n}") for n in (1, 2, 3))


def test_without_failing_cases_some_are_shown(make_run: MakeRun) -> None:
    run = make_run([result(i, passed()) for i in range(9)])

    text = "\n".join(rendered(show_lines(run, width=80), colour=False))

    assert "no case fails; 5 of 9 cases" in text


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("/flow/answer", "flow answer on given data"),
        ("/model/openai/x", "model openai/x on given data"),
        ("http://127.0.0.1:8000/answer", "http://127.0.0.1:8000/answer on given data"),
    ],
)
def test_the_header_names_what_was_called(make_run: MakeRun, target: str, said: str) -> None:
    run = make_run([result(1, passed())], actionRef=target)

    assert said in rendered(run_lines(run, width=80), colour=False)


def test_a_broken_target_is_a_failed_case() -> None:
    assert concern_of(result(1, error="ValueError: no")) is Concern.FAILED


def test_a_case_shows_input_output_reference_and_reasons() -> None:
    lines = lines_of_case(failed(rationale="not found"), input={"q": "é"}, output="text", reference=0)

    assert lines == [
        "case-1  FAIL",
        '  input      {"q":"é"}',
        "  output     text",
        "  reference  0",
        "  custom/check  FAIL  not found",
    ]


def test_in_brief_a_case_shows_its_input_on_one_line() -> None:
    lines = lines_of_case(failed(rationale="no"), input="what\n" + "long " * 40, output="text", brief=True, width=40)

    assert lines == ["case-1  FAIL", r"  input      what\nlong long long long …", "  custom/check  FAIL  no"]


def test_an_empty_input_is_seen() -> None:
    assert '  input      ""' in lines_of_case(failed(), input="", brief=True)


@pytest.mark.parametrize("brief", [True, False])
def test_a_long_error_keeps_its_end(brief: bool) -> None:
    lines = lines_of_case(error="ValueError: " + "very " * 500 + "bad (app.py:12)", brief=brief)

    assert lines[-1].endswith("bad (app.py:12)")
    assert all(len(text) <= 80 for text in lines)


def test_an_error_does_not_name_its_case_again() -> None:
    lines = lines_of_case(error="sample 'case-1': input does not fit", brief=True)

    assert lines[-1] == "  error      input does not fit"


def test_a_number_is_shown_beside_its_verdict() -> None:
    lines = lines_of_case(metric(score=-0.5, status="PASS"), brief=False)

    assert lines[-1] == "  custom/check  PASS -0.5"


@pytest.mark.case("data-file/big-integers")
def test_big_integers_keep_every_digit() -> None:
    lines = lines_of_case(passed(), input={"order": 9007199254740993}, reference=9007199254740993)

    assert '  input      {"order":9007199254740993}' in lines
    assert "  reference  9007199254740993" in lines


@pytest.mark.case("security/terminal-escapes")
@pytest.mark.parametrize("field", ["testCaseId", "input", "output", "reference", "error"])
def test_no_field_of_a_case_acts_on_the_terminal(field: str) -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07 ok\r\nnext"
    values = {field: hostile}
    metrics = [] if field == "error" else [failed(rationale=hostile, scoreId=hostile)]

    lines = lines_of_case(*metrics, **values)

    assert all(text.isprintable() for text in lines)
    assert r"\x1b[2J" in "".join(lines)


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_case_fits_the_terminal(width: int) -> None:
    lines = lines_of_case(
        failed(rationale="why " * 99), passed(evaluator="a" * 50), output="東京" * 99, testCaseId="i" * 99, width=width
    )

    assert all(len(text) <= width for text in lines)


def test_an_interrupted_run_does_not_pass_as_a_whole_one(make_run: MakeRun) -> None:
    run = make_run([result(1, passed())], state="INCOMPLETE", caseCount=9)

    text = "\n".join(rendered(run_lines(run, width=80), colour=False))

    assert "INCOMPLETE: 1 of 9 cases so far; the figures below are not final" in text


def test_colours_are_ours_alone(make_run: MakeRun) -> None:
    run = make_run([result(1, failed(rationale="\x1b[32mPASS"))])

    text = "\n".join(rendered(run_lines(run, width=80), colour=True))

    assert "\x1b[31mFAIL\x1b[0m" in text
    assert r"\x1b[32mPASS" in text
    assert "\x1b[32mPASS" not in text
