"""Which samples take part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from genkit_eval.datasets import select
from genkit_eval.errors import ConfigError, UnknownName
from genkit_eval.types import Sample

SAMPLES = [
    Sample(test_case_id="a", input=1, tags=["math", "hard"]),
    Sample(test_case_id="b", input=2, tags=["math"]),
    Sample(test_case_id="c", input=3),
    Sample(test_case_id="d", input=4, tags=["history"]),
]


def ids(samples: Iterator[Sample]) -> list[str | None]:
    return [sample.test_case_id for sample in samples]


def many(count: int) -> list[Sample]:
    return [Sample.trusted({"test_case_id": str(number), "input": number}) for number in range(count)]


def test_without_filters_all_samples_pass() -> None:
    assert ids(select(SAMPLES)) == ["a", "b", "c", "d"]


def test_any_of_the_tags_is_enough() -> None:
    assert ids(select(SAMPLES, tags=["hard", "history"])) == ["a", "d"]


def test_a_tag_that_no_sample_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="unknown tag 'maths': did you mean 'math'"):
        list(select(SAMPLES, tags=["maths"]))


def test_a_tag_where_no_sample_has_one_is_refused_in_these_words() -> None:
    with pytest.raises(ConfigError, match="unknown tag 'maths': no sample has tags"):
        list(select([Sample(test_case_id="a", input=1)], tags=["maths"]))


def test_ids_choose_in_the_order_of_the_dataset() -> None:
    assert ids(select(SAMPLES, ids=["d", "a"])) == ["a", "d"]


@pytest.mark.case("data-file/non-ascii-ids")
@pytest.mark.case("data-file/prototype-names-as-ids")
def test_ids_of_any_letters_are_found() -> None:
    samples = [Sample(test_case_id=name, input=1) for name in ("übung-1", "東-2", "__proto__")]

    assert ids(select(samples, ids=["東-2", "__proto__"])) == ["東-2", "__proto__"]


def test_an_unknown_id_is_refused_before_any_sample_is_given() -> None:
    samples = [Sample(test_case_id="case-one", input=1), Sample(test_case_id="b", input=1)]

    with pytest.raises(UnknownName, match="unknown sample 'case-on': did you mean 'case-one'"):
        next(select(samples, ids=["b", "case-on"]))


def test_limit_takes_the_first_of_what_is_left() -> None:
    assert ids(select(SAMPLES, limit=2)) == ["a", "b"]
    assert ids(select(SAMPLES, tags=["math", "history"], limit=2)) == ["a", "b"]
    assert ids(select(SAMPLES, limit=99)) == ["a", "b", "c", "d"]


def test_limit_reads_no_further_than_needed() -> None:
    def stream() -> Iterator[Sample]:
        yield from SAMPLES
        raise AssertionError("read too far")

    assert len(ids(select(stream(), limit=4))) == 4


@pytest.mark.parametrize(("limit", "sample"), [(0, None), (None, 0), (-1, None)])
def test_numbers_below_one_are_refused(limit: int | None, sample: int | None) -> None:
    with pytest.raises(ConfigError, match="must be 1 or more"):
        select(SAMPLES, limit=limit, sample=sample)


def test_a_random_choice_is_the_same_for_the_same_seed_and_keeps_the_order() -> None:
    samples = many(1000)

    first, again = ids(select(samples, sample=50, seed=3)), ids(select(iter(samples), sample=50, seed=3))
    other = ids(select(samples, sample=50, seed=4))

    assert first == again
    assert first != other
    assert first == sorted(first, key=lambda name: int(name or ""))
    assert len(set(first)) == 50


def test_a_random_choice_of_more_than_there_are_is_all() -> None:
    assert ids(select(SAMPLES, sample=9)) == ["a", "b", "c", "d"]


def test_every_sample_has_the_same_chance() -> None:
    samples = many(20)

    counts = Counter(name for seed in range(2000) for name in ids(select(samples, sample=5, seed=seed)))

    # 500 expected for each, standard deviation 19.4
    assert all(abs(counts[str(number)] - 500) < 100 for number in range(20))
