"""How sure a judge was of its rating: the probabilities of the numbers that it weighed, from a reply's tokens."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from genkit_eval import Reply, TokenLogprob

__all__ = ["rating_weights"]

_RATING = re.compile(r"""["']?rating["']?\s*:\s*["']?\s*(?=\d)""")
_DIGIT = re.compile(r"\D*(\d)\D*")


def rating_weights(reply: Reply, rating: int, scale: Sequence[int]) -> Mapping[int, float] | None:
    """The probability of each whole number of a scale, at the place where the reply has its rating; they sum to 1.

    None where the reply has no log-probabilities, or none from which that can be told.

    Args:
        rating: what was read from the reply.
        scale: numbers of one digit.
    """
    token = _rating_token(reply, rating)
    if token is None:
        return None
    weights: dict[int, float] = {}
    for text, logprob in {token.token: token.logprob, **token.alternatives}.items():
        digit = _DIGIT.fullmatch(text)
        if digit is not None and int(digit[1]) in scale:
            weights[int(digit[1])] = weights.get(int(digit[1]), 0.0) + math.exp(min(logprob, 0.0))
    total = math.fsum(weights.values())
    return {number: weights[number] / total for number in sorted(weights)} if total > 0 else None


def _rating_token(reply: Reply, rating: int) -> TokenLogprob | None:
    """The token that the rating is in, if it is alone in it and has alternatives."""
    tokens = reply.logprobs or ()
    ends = list(accumulate(len(token.token) for token in tokens))
    # the last one that says so: a reason before it may speak of ratings too
    for place in reversed(list(_RATING.finditer("".join(token.token for token in tokens)))):
        token = tokens[bisect_right(ends, place.end())]
        digit = _DIGIT.fullmatch(token.token)
        if digit is not None and int(digit[1]) == rating:
            return token if token.alternatives else None
    return None
