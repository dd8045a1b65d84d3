"""Probabilities of ratings, from the tokens of a reply."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import Reply, TokenLogprob
from genkit_eval_judges.token_weights import rating_weights

SCALE = (1, 2, 3, 4, 5)
SHARES = st.dictionaries(st.sampled_from(SCALE), st.floats(1e-6, 1), min_size=1)


def reply(rated: int, shares: dict[str, float], *, start: str = '{"reason": "r", "rating":', end: str = "}") -> Reply:
    """A reply whose rating is one token, with these alternatives."""
    alternatives = {text: math.log(share) for text, share in shares.items()}
    number = TokenLogprob(token=f" {rated}", logprob=math.log(shares.get(f" {rated}", 1e-9)), alternatives=alternatives)
    tokens = [TokenLogprob(token=start, logprob=0.0), number, TokenLogprob(token=end, logprob=0.0)]
    return Reply(text="".join(token.token for token in tokens), logprobs=tokens)


@given(SHARES, st.dictionaries(st.sampled_from(["", "x", " 10", "0", "4.5", "6"]), st.floats(1e-6, 1)))
def test_weights_sum_to_1_and_only_numbers_of_the_scale_have_any(
    shares: dict[int, float], others: dict[str, float]
) -> None:
    said = max(shares)
    texts = {f" {number}": share for number, share in shares.items()}

    weights = rating_weights(reply(said, texts | others), said, SCALE)

    assert weights is not None
    assert math.fsum(weights.values()) == pytest.approx(1)
    assert weights == pytest.approx({number: share / math.fsum(shares.values()) for number, share in shares.items()})
    mean = math.fsum(number * share for number, share in weights.items())
    assert min(shares) - 1e-9 <= mean <= max(shares) + 1e-9


def test_spellings_of_a_number_count_together() -> None:
    weights = rating_weights(reply(4, {" 4": 0.3, "4": 0.2, "\n4": 0.1, '"3': 0.2, "５": 0.2}), 4, SCALE)

    # 0.6 of 4, 0.2 of 3, and 0.2 of a 5 in full-width digits
    assert weights == pytest.approx({3: 0.2, 4: 0.6, 5: 0.2})


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ('{"reason": "rating: 4, they say", "rating":', "}"),
        ('```json\n{"reason": "r",\n "rating" :', "\n}\n```"),
        ("{'rating':", "}"),
        ('{"rating": "', '"}'),
        ('<think>{"rating": 4}</think>{"rating":', "}"),
        ('{"rating":', ', "reason": "its rating: 5 is too much"}'),
    ],
)
def test_the_rating_is_found_wherever_it_stands(start: str, end: str) -> None:
    assert rating_weights(reply(4, {" 4": 0.5, " 2": 0.5}, start=start, end=end), 4, SCALE) == pytest.approx(
        {2: 0.5, 4: 0.5}
    )


@pytest.mark.parametrize(
    "said",
    [
        Reply(text='{"rating": 4}'),
        Reply(text='{"rating": 4}', logprobs=[]),
        Reply(text='{"rating": 4}', logprobs=[TokenLogprob(token='{"rating": 4}', logprob=0.0)]),
        reply(4, {}),
        reply(3, {" 3": 1.0}),
        reply(4, {" 4": 1.0}, start='{"score":'),
    ],
    ids=["none", "empty", "no alternatives", "an empty list", "another number", "another key"],
)
def test_where_it_cannot_be_told_there_is_none(said: Reply) -> None:
    assert rating_weights(said, 4, SCALE) is None
