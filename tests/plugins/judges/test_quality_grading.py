"""What grades come to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval_judges.quality.grading import mean_worth

WORTHS = {"whole": 1.0, "half": 0.5, "nothing": 0.0, "not counted": None}
WORDS = st.lists(st.sampled_from([*WORTHS]))


@pytest.mark.parametrize(
    ("grades", "mean"),
    [
        (["whole", "nothing", "whole"], 2 / 3),
        (["whole", "half"], 0.75),
        (["whole", "not counted", "nothing", "not counted"], 0.5),
        (["not counted"], None),
        ([], None),
    ],
)
def test_grades_that_are_not_counted_leave_the_mean_as_it_is(grades: list[str], mean: float | None) -> None:
    assert mean_worth(grades, WORTHS) == (mean if mean is None else pytest.approx(mean))


@given(WORDS)
def test_the_mean_is_a_share_and_knows_no_order(grades: list[str]) -> None:
    mean = mean_worth(grades, WORTHS)

    assert mean is None or 0 <= mean <= 1
    assert mean == mean_worth(grades[::-1], WORTHS)


@given(WORDS)
def test_a_better_grade_never_lowers_the_mean(grades: list[str]) -> None:
    worse = mean_worth([*grades, "nothing"], WORTHS) or 0.0
    half = mean_worth([*grades, "half"], WORTHS) or 0.0
    better = mean_worth([*grades, "whole"], WORTHS) or 0.0

    assert worse <= half <= better
