"""What evaluators settle on by the first reply: for single scores, which have no run to keep it."""

from __future__ import annotations

from pydantic import JsonValue

from genkit_eval.engine.asking.choices import Choices


class Late(dict[str, JsonValue]):
    """Values in which what another has just settled is not seen yet by who looks."""

    def __contains__(self, key: object) -> bool:
        return False


def test_who_comes_first_settles_a_matter_for_all_who_share_the_values() -> None:
    values: dict[str, JsonValue] = {}
    first, second = Choices(values), Choices(values)

    told = [first.settle("form", "weighted"), second.settle("form", "as rated"), first.settle("other", 1)]

    assert told == ["weighted", "weighted", 1]
    assert first.to_json() == {"form": "weighted", "other": 1}


def test_of_two_who_settle_the_same_at_one_moment_both_go_by_one_value() -> None:
    values = Late()

    told = [Choices(values).settle("form", form) for form in ("weighted", "as rated")]

    assert told == ["weighted", "weighted"]


def test_where_nothing_is_settled_a_key_says_nothing() -> None:
    assert Choices({}).to_json() is None
