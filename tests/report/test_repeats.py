"""What is said of a run whose samples ran several times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from genkit_eval import EvalResult
from genkit_eval.report.documents import run_document
from genkit_eval.report.lines import rendered
from genkit_eval.report.run_listing import run_listing
from genkit_eval.report.run_report import run_lines, show_lines
from tests.report.conftest import MakeRun
from tests.report.rows import broke, failed, metric, passed, result

THREE = {"target": 3, "judge": 1}


def repeats(number: int, *cells: dict[str, Any]) -> list[EvalResult]:
    return [result(number, cell, repeat=place) for place, cell in enumerate(cells)]


def text_of(lines: Any) -> list[str]:
    return list(rendered(lines, colour=False))


def mixed() -> Sequence[EvalResult]:
    """A case that always passes, one that does so twice of three times, and one that is never judged."""
    return [
        *repeats(1, passed(), passed(), passed()),
        *repeats(2, passed(), failed(), passed()),
        *repeats(3, broke(), broke(), broke()),
    ]


def test_the_table_counts_cases_by_what_their_repeats_agree_on(make_run: MakeRun) -> None:
    lines = text_of(run_lines(make_run(mixed(), repeats=THREE), width=100))

    assert "3 cases, 3 times each" in lines
    assert "3 cases over 3 repeats: pass@k, one of k passes; pass^k, all of k pass" in lines
    at = next(place for place, text in enumerate(lines) if "VARIED" in text)
    assert lines[at].split() == ["metric", "PASS", "VARIED", "no", "result", "pass@3", "pass^3"]
    assert lines[at + 1].split() == ["custom/check", "1", "1", "1", "100", "%", "50", "%"]
    below = " ".join(lines[at + 2 : at + 6])
    assert "pass@3 and pass^3 are over the 2 of 3 cases with 3 repeats that are PASS or FAIL" in below
    # of 3 pairs 1 passes whole in the second case: (1 + 1/3) / 2
    assert "k = 1 83.3 %, k = 2 66.7 %, k = 3 50 %" in below


def test_the_failing_ones_are_counted_as_results(make_run: MakeRun) -> None:
    lines = text_of(run_lines(make_run(mixed(), repeats=THREE), width=100))

    assert "4 of 9 results fail" in lines
    assert "case-2  repeat 1  FAIL" in lines


def test_show_names_the_cases_whose_repeats_do_not_agree(make_run: MakeRun) -> None:
    lines = text_of(show_lines(make_run(mixed(), repeats=THREE), width=100))

    at = lines.index("repeats do not agree on 1 cell")
    assert lines[at + 2] == "case-2  custom/check  2 PASS, 1 FAIL"


def test_a_run_without_repeats_says_nothing_of_them(make_run: MakeRun) -> None:
    run = make_run([result(1, passed())])

    text = "\n".join(text_of(show_lines(run, width=100)))

    assert "repeat" not in text
    assert "pass@" not in text
    assert "repeats" not in run_document(run)


def test_judges_asked_several_times_stand_in_the_header(make_run: MakeRun) -> None:
    run = make_run([result(1, passed())], repeats={"target": 1, "judge": 3})

    assert "1 case, each judge asked 3 times" in text_of(run_lines(run, width=100))


def test_show_has_each_answer_of_a_judge(make_run: MakeRun) -> None:
    answers = [
        {"score": 0.75, "status": "PASS", "outcome": "VERDICT"},
        {"error": "no reply", "status": "UNKNOWN", "outcome": "FAILED"},
        {"score": "tone", "status": "UNKNOWN", "outcome": "VERDICT"},
        {"score": False, "status": "FAIL", "outcome": "VERDICT"},
    ]
    run = make_run([result(1, passed(details={"judgeRepeats": {"answers": answers}}))])

    assert "    asked 4 times: PASS 0.75, FAILED, tone, FAIL" in text_of(show_lines(run, width=100))
    assert "asked" not in "\n".join(text_of(run_lines(run, width=100)))


@pytest.mark.parametrize("odd", [None, 7, [], {}, {"answers": 3}, {"answers": [3]}])
def test_details_of_others_under_the_same_name_do_no_harm(make_run: MakeRun, odd: object) -> None:
    run = make_run([result(1, passed(details={"judgeRepeats": odd}))])

    assert "case-1  ok" in text_of(show_lines(run, width=100))


def test_numbers_have_a_spread_within_their_case(make_run: MakeRun) -> None:
    rows = repeats(1, metric(score=0.2), metric(score=0.4))

    text = "\n".join(text_of(run_lines(make_run(rows, repeats={"target": 2, "judge": 1}), width=100)))

    assert "spread of the scores within a case: 0.1414" in text


def test_programs_get_every_rate_and_the_verdict_of_every_case(make_run: MakeRun) -> None:
    document = run_document(make_run(mixed(), repeats=THREE))

    [row] = document["repeats"]  # type: ignore[misc]  # JSON
    assert document["cases"] == 3
    assert row["caseVerdicts"] == {"PASS": 1, "FAIL": 0, "VARIED": 1, "UNDECIDED": 0, "NO_RESULT": 1}  # type: ignore[index]  # JSON
    assert [rate["cases"] for rate in row["passAtK"]] == [2, 2, 2]  # type: ignore[index, call-overload]  # JSON
    assert row["passHatK"][2] == {"k": 3, "value": 0.5, "cases": 2}  # type: ignore[index, call-overload]  # JSON
    assert [case["verdict"] for case in row["cases"]] == ["PASS", "VARIED", "NO_RESULT"]  # type: ignore[index, call-overload]  # JSON


def test_a_listing_has_cases_times_repeats(make_run: MakeRun) -> None:
    run = make_run(mixed(), repeats=THREE, caseCount=9)

    assert any("3 x 3" in text for text in text_of(run_listing([run.key], width=100)))


def test_a_listing_tells_a_run_from_the_one_whose_outputs_it_judges(make_run: MakeRun) -> None:
    run = make_run([result(1, passed())], actionRef="/flow/answer", parent="run-0")

    assert any("answer on given data, judged once more" in text for text in text_of(run_listing([run.key], width=100)))
    assert "outputs of run-0, judged once more" in text_of(run_lines(run, width=100))


def test_the_lines_fit_a_narrow_terminal(make_run: MakeRun) -> None:
    name = "long" * 20
    cells = metric(name, status="PASS"), metric(name, status="FAIL")
    rows = [row for number in range(3) for row in repeats(number, *cells)]

    lines = text_of(show_lines(make_run(rows, repeats={"target": 2, "judge": 1}), width=40))

    assert max(map(len, lines)) <= 40
