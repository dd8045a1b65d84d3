"""genkitEval/regex."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import DataPoint, Sample, Status
from genkit_eval.errors import DataError
from genkit_eval_metrics.regex import RegexOptions, check_regex

# the classic (a+)+ is no trouble to this engine; this one takes centuries
EVIL, EVIL_TEXT = "^(a|aa)+$", "a" * 60 + "!"


@pytest.mark.case("regex/search-not-fullmatch")
def test_the_pattern_is_searched_for_anywhere(judge) -> None:
    assert judge("regex", "The last ferry left.", "ferry").status is Status.PASS


def test_a_pattern_that_is_not_found_is_a_fail_that_says_so(judge) -> None:
    score = judge("regex", "The last boat left.", "ferry")

    assert (score.score, score.status) == (False, Status.FAIL)
    assert score.reason == """'ferry' is not found in "The last boat left.\""""


@pytest.mark.case("regex/dollar-before-newline")
def test_dollar_matches_before_a_final_newline_as_in_python(judge) -> None:
    assert judge("regex", "ok\n", "^ok$").status is Status.PASS


@pytest.mark.case("regex/object-output-compact-json")
def test_an_object_is_searched_as_compact_json(judge) -> None:
    assert judge("regex", {"count": 3, "unit": "kg"}, '"count":3').status is Status.PASS


def test_json_text_is_not_escaped_to_ascii(judge) -> None:
    assert judge("regex", {"city": "Kraków"}, "Kraków").status is Status.PASS


@pytest.mark.case("regex/scalar-output-text")
@pytest.mark.parametrize(
    ("pattern", "output"),
    [("^true$", True), ("^42$", 42), (r"^1\.0$", 1.0), (r"^\[1,2\]$", [1, 2]), ("^null$", None), ("^$", "")],
)
def test_other_outputs_are_searched_in_their_json_spelling(judge, pattern: str, output: object) -> None:
    assert judge("regex", output, pattern).status is Status.PASS


@pytest.mark.case("regex/named-group-syntax")
@pytest.mark.parametrize("pattern", [r"(?<y>20\d\d)", r"(?P<y>20\d\d)"])
def test_named_groups_may_be_written_both_ways(judge, pattern: str) -> None:
    assert judge("regex", "In 2024 it rained.", pattern).status is Status.PASS


@pytest.mark.case("regex/inline-flag")
def test_flags_are_written_inline(judge) -> None:
    assert judge("regex", "OK then", "(?i)^ok").status is Status.PASS


@pytest.mark.case("regex/newline-and-dot")
@pytest.mark.parametrize(
    ("pattern", "output", "found"),
    [
        ("a.c", "a\nc", False),
        ("^second", "first\nsecond", False),
        ("(?s)a.c", "a\nc", True),
        ("(?m)^second", "first\nsecond", True),
    ],
)
def test_dot_and_anchors_mean_the_whole_text_unless_a_flag_says_otherwise(judge, pattern, output, found) -> None:
    assert judge("regex", output, pattern).score is found


@pytest.mark.case("regex/invalid-pattern")
def test_a_broken_pattern_is_an_error_that_names_the_position(judge) -> None:
    with pytest.raises(DataError, match=r"not a valid pattern: unterminated character set at position 9, in '\[unclo"):
        judge("regex", "x", "[unclosed")


@pytest.mark.case("regex/reference-not-a-string")
@pytest.mark.parametrize(
    ("reference", "found"), [(42, "number 42"), (None, "null"), (["x"], r'list \["x"\]'), ({"p": 1}, r'object {"p":1}')]
)
def test_a_reference_that_is_not_text_is_an_error(judge, reference: object, found: str) -> None:
    with pytest.raises(DataError, match=rf"reference must be text \(a pattern\), found {found}$"):
        judge("regex", "42", reference)


@pytest.mark.case("regex/redos-nested-quantifier")
def test_the_classic_catastrophic_pattern_is_decided(judge) -> None:
    assert judge("regex", "a" * 40 + "!", "^(a+)+$").status is Status.FAIL


@pytest.mark.case("regex/redos-nested-quantifier")
def test_a_pattern_that_explodes_ends_with_a_timeout_while_others_are_judged(judge) -> None:
    errors: list[str] = []

    def explode() -> None:
        with pytest.raises(DataError) as raised:
            judge("regex", EVIL_TEXT, EVIL, timeout_seconds=2)
        errors.append(str(raised.value))

    thread = threading.Thread(target=explode)

    thread.start()
    others = [judge("regex", f"item {number}", "item").status for number in range(100)]
    still_at_it = thread.is_alive()
    thread.join()

    assert others == [Status.PASS] * 100
    assert still_at_it
    assert errors == [
        "timeout: the pattern '^(a|aa)+$' took more than 2 s on 61 characters: simplify it, or raise timeout_seconds"
    ]


@pytest.mark.parametrize("pattern", ["(" * 5000 + ")" * 5000, "(?:" * 2400 + ")" * 2400])
def test_a_pattern_that_nests_too_deeply_is_an_error(judge, pattern: str) -> None:
    with pytest.raises(DataError, match="it nests too deeply"):
        judge("regex", "x", pattern)


def test_how_deep_a_pattern_may_nest_does_not_depend_on_how_deep_the_caller_is(judge) -> None:
    pattern = "(?:" * 300 + "x" + ")" * 300

    def called_from(depth: int) -> Status:
        return called_from(depth - 1) if depth else judge("regex", "x", pattern).status

    assert called_from(700) is Status.PASS


@pytest.mark.parametrize("pattern", ["a{1000000000}", "(?:ab){100000000}", "(?:(?:a{1000}){1000}){1000}"])
def test_a_pattern_that_unrolls_to_gigabytes_does_not_take_them(judge, pattern: str) -> None:
    with pytest.raises(DataError, match=r"timeout|out of memory"):
        judge("regex", "x", pattern)


def test_a_pattern_with_many_repeats_is_decided_all_the_same(judge) -> None:
    groups = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

    assert judge("regex", "id 123e4567-e89b-12d3-a456-426614174000", f"{groups}(?:, {groups}){{0,2}}").score is True


def test_a_very_long_output_is_searched(judge) -> None:
    assert judge("regex", "x" * 2_000_000 + "needle", "needle").score is True


def test_a_pattern_has_at_most_ten_thousand_characters(judge) -> None:
    with pytest.raises(DataError, match="10001 characters: a pattern may have 10000"):
        judge("regex", "x", "x" * 10_001)


@pytest.mark.parametrize(
    ("sample", "problem"),
    [
        (Sample(reference="ferry"), None),
        (Sample(reference="("), "reference is not a valid pattern: missing ) at position 1, in '('"),
        (Sample(reference=3), "reference must be text (a pattern), found number 3"),
        (Sample(), "reference must be text (a pattern), found none"),
        (Sample(reference="(" * 5000), f"reference is not a valid pattern: it nests too deeply, in '{'(' * 80}…'"),
        (
            Sample(reference="(?:ab){100000000}"),
            "reference takes more than 1 s to compile as a pattern: simplify it",
        ),
    ],
)
def test_the_check_finds_what_is_wrong_with_a_reference_before_a_run(sample: Sample, problem: str | None) -> None:
    assert check_regex(sample, RegexOptions()) == problem


@given(st.text(alphabet="ab()[]{}|*+?^$\\.,-<>=!:PiL0123 \n", max_size=30))
def test_any_text_is_a_pattern_or_a_problem_in_words(pattern: str) -> None:
    problem = check_regex(Sample(reference=pattern), RegexOptions(timeout_seconds=0.5))

    assert problem is None or problem.startswith("reference ") or "out of memory" in problem


def test_the_options_refuse_a_timeout_that_is_none() -> None:
    with pytest.raises(ValueError, match="timeout_seconds"):
        RegexOptions(timeout_seconds=0)


def test_a_data_point_without_a_reference_is_an_error_when_asked_directly(judge) -> None:
    from genkit_eval_metrics.regex import regex

    with pytest.raises(DataError, match="found none"):
        regex(DataPoint(output="x"), RegexOptions())


def test_a_pattern_that_calls_itself_is_stopped_in_a_process_of_its_own(judge) -> None:
    with pytest.raises(DataError, match=r"timeout|memory"):
        judge("regex", "x" * 50, "(?R)")

    assert judge("regex", "((a))", r"^(\((?:a|(?1))\))$").status is Status.PASS
