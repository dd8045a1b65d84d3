"""Requests are known again by all that was asked, and by nothing that differs by chance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from genkit_eval import Image, Message
from genkit_eval.engine.asking.request_key import RequestKey, RequestKeys, key_of_texts
from genkit_eval.prompts import fenced


class Verdict(BaseModel):
    reason: str
    verdict: bool


class OtherOrder(BaseModel):
    verdict: bool
    reason: str


def user(text: str) -> list[Message]:
    return [Message(role="user", content=text)]


def key(
    identity: str = "p/m at http://a/v1",
    messages: Sequence[Message] = (Message(role="user", content="Is it so?"),),
    *,
    output: type[BaseModel] | None = None,
    config: Mapping[str, Any] | None = None,
    repeat: int = 0,
) -> str:
    return RequestKeys(repeat).of_messages(identity, messages, output=output, config=config).text


def test_the_same_request_has_the_same_key() -> None:
    assert key(output=Verdict, config={"temperature": 0}) == key(output=Verdict, config={"temperature": 0})


@pytest.mark.case("api-fault/cache-skips-failures")
@pytest.mark.parametrize(
    "other",
    [
        key("p/other at http://a/v1"),
        key("p/m at http://b/v1"),
        key(messages=user("Is it so!")),
        key(messages=[Message(role="system", content="Is it so?")]),
        key(messages=[*user("Is it"), *user(" so?")]),
        key(output=Verdict),
        key(output=OtherOrder),
        key(config={"temperature": 0}),
        key(config={"temperature": 1}),
        key(config={"temperature": True}),
        key(config={"seed": 0}),
        key(repeat=1),
        key(repeat=2),
        key_of_texts("p/m at http://a/v1", ["Is it so?"]).text,
    ],
)
def test_whatever_differs_in_a_request_gives_it_another_key(other: str) -> None:
    assert other != key()


def test_models_with_the_same_fields_in_another_order_ask_for_other_replies() -> None:
    assert key(output=Verdict) != key(output=OtherOrder)


def test_the_order_of_parameters_does_not_matter() -> None:
    assert key(config={"temperature": 0, "seed": 7}) == key(config={"seed": 7, "temperature": 0})


def test_no_parameters_are_the_same_as_none_given() -> None:
    assert key(config={}) == key(config=None)


def test_the_same_request_within_a_cell_is_another_one_each_time() -> None:
    first, second = RequestKeys(), RequestKeys()

    asked = [first.of_messages("m", user("Guess.")).text for _ in range(3)]
    again = [second.of_messages("m", user("Guess.")).text for _ in range(3)]

    assert len(set(asked)) == 3
    assert asked == again


def test_texts_for_an_embedder_are_kept_apart() -> None:
    keys = [key_of_texts("e", texts).text for texts in (["ab"], ["a", "b"], ["a", "b", ""], [])]

    assert len(set(keys)) == 4


def test_texts_for_an_embedder_are_one_request_however_often_it_is_asked() -> None:
    assert key_of_texts("e", ["ab"]) == key_of_texts("e", ["ab"])


def test_half_of_a_surrogate_pair_does_not_keep_a_request_from_being_asked() -> None:
    assert key(messages=user("\ud83d")) != key(messages=user("\ud83d\ude00"))


def test_random_fences_do_not_make_it_another_request() -> None:
    def prompt() -> list[Message]:
        return user(f"Question:\n{fenced('How many?')}\nAnswer:\n{fenced('Four.')}")

    assert key(messages=prompt()) == key(messages=prompt())


def test_two_texts_that_change_places_make_it_another_request() -> None:
    one, other = fenced("one"), fenced("other")

    assert key(messages=user(one + other)) != key(messages=user(other + one))


def test_what_looks_like_a_fence_inside_a_judged_text_is_text() -> None:
    def judged(mark: str) -> list[Message]:
        return user(fenced(f"<data-{mark}>\nall is well\n</data-{mark}>"))

    assert key(messages=judged("0123456789abcdef")) != key(messages=judged("fedcba9876543210"))


def test_a_fence_that_is_never_closed_is_text() -> None:
    assert key(messages=user("<data-0123456789abcdef>\n")) != key(messages=user("<data-fedcba9876543210>\n"))


def request(text: str) -> RequestKey:
    return RequestKeys().of_messages("m", user(text))


def test_a_reply_that_quotes_a_fence_is_given_with_the_fence_of_whoever_asks_again() -> None:
    prompt = fenced("Four.")
    mark = prompt[1:22]
    first = request(prompt)
    kept = first.kept(json.dumps({"text": f"<{mark}> says four"}).encode())
    again = fenced("Four.")

    given = request(again).given(kept)

    assert json.loads(given) == {"text": f"<{again[1:22]}> says four"}
    assert mark.encode() not in kept


def test_a_correction_that_quotes_a_fence_is_the_same_request_again() -> None:
    keys = []
    for _ in range(2):
        prompt = fenced("Four.")
        messages = [*user(prompt), Message(role="assistant", content=f"In {prompt[1:22]} there is…"), *user("Again.")]
        keys.append(RequestKeys().of_messages("m", messages).text)

    assert keys[0] == keys[1]


def test_a_text_of_many_openings_is_read_in_no_time() -> None:
    hostile = "".join(f"<data-{number:016x}>\n" for number in range(200_000))

    assert request(hostile).marks == ()


def test_another_image_is_another_request() -> None:
    def key(*data: str) -> str:
        images = tuple(Image(media_type="image/png", data=item) for item in data)
        return RequestKeys().of_messages("m", [Message(role="user", content="?", images=images)]).text

    assert len({key(), key("AAAA"), key("BBBB"), key("AAAA", "BBBB")}) == 4
    assert key("AAAA") == key("AAAA")
