"""Whatever the form of a reply, each judge reads it rightly or is FAILED: it never comes to another score."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from pydantic import BaseModel, JsonValue

from genkit_eval import GenkitEval, Message, Outcome, Reply
from genkit_eval.testing import data_point
from genkit_eval.testing.forms import reply_in_form
from genkit_eval_judges import judges
from genkit_eval_judges.catalogue import JUDGES
from tests.plugins.judges.whole_case import CASE

Found = dict[str, Any]
Messy = Callable[[Found], str]


@pytest.fixture
def anyio_backend() -> str:
    """What a reply comes to does not depend on the event loop."""
    return "asyncio"


def judged(reply: Found) -> Sequence[Found]:
    """The objects of a reply that hold a judgement each."""
    (first, *_) = reply.values()
    if isinstance(first, list):
        return first
    return [*reply.values()] if isinstance(first, dict) else [reply]


def each(change: Callable[[Any], Any], *keys: str) -> Messy:
    """The reply with the judgements in it changed, or its values of these keys."""

    def messy(reply: Found) -> str:
        for item in judged(reply):
            for key in keys or item.keys() & {"rating", "verdict", "grade", "score", "label"}:
                item[key] = change(item[key]) if key in item else change(None)
        return json.dumps(reply)

    return messy


def listed(change: Callable[[Sequence[Found]], Any]) -> Messy:
    """The reply with the list in it changed, if it is one."""

    def messy(reply: Found) -> str:
        ((name, items), *_) = reply.items()
        return json.dumps({name: change(items)} if isinstance(items, list) else reply)

    return messy


def told(number: Any) -> Any:
    """A number or a boolean as a text."""
    return number if isinstance(number, str) else str(number)


def without_reason(reply: Found) -> str:
    for item in judged(reply):
        del item["reason"]
    return json.dumps(reply)


def renumbered(by: float) -> Messy:
    return listed(lambda items: [{**item, "number": item["number"] + by} for item in items])


READ: Mapping[str, Messy] = {
    "a code fence": lambda reply: f"```json\n{json.dumps(reply, indent=2)}\n```\nI hope that this helps!",
    "words around": lambda reply: f"Here it is:\n{json.dumps(reply)}\nAsk for more {{if}} you like.",
    "thoughts": lambda reply: f'<think>{{"rating": 0}}?</think>{json.dumps(reply)}',
    "numbers as texts": each(told),
    "capitals and a stop": each(lambda said: f" **{said.upper()}**." if isinstance(said, str) else said),
    "words that are joined": each(lambda said: said.replace(" ", "_") if isinstance(said, str) else said),
    "further fields": lambda reply: each(lambda _: 0.3, "confidence")({**reply}),
    "backwards": listed(lambda items: items[::-1]),
    "one twice": listed(lambda items: [*items, items[0]]),
    "no object around": lambda reply: json.dumps([reply]),
    "Python": repr,
    "a trailing comma": lambda reply: json.dumps(reply)[:-1] + ",}",
}
"""Forms of a reply of which only one thing can be meant."""

UNREADABLE: Mapping[str, Messy] = {
    "one too many": listed(lambda items: [*items, {**items[-1], "number": len(items) + 1}]),
    "from 0": renumbered(-1),
    "between numbers": renumbered(0.5),
    "no numbers": listed(lambda items: [{key: item[key] for key in item if key != "number"} for item in items]),
    "other numbers": each(lambda said: 7 if isinstance(said, int | float) else f"{said}ly"),
    "percent": each(lambda said: f"{said} %"),
    "a list": each(lambda said: [said]),
    "no reason": without_reason,
    "null for a reason": each(lambda _: None, "reason"),
    "other keys": lambda reply: json.dumps({"answer": reply}),
    "cut off": lambda reply: json.dumps(reply)[:-3],
    "not a number": lambda reply: each(lambda _: "NaN")(reply).replace('"NaN"', "NaN"),
    "words": lambda reply: "It is fine.",
    "nothing": lambda reply: "",
}
"""Forms that are no answer, or could be one of several."""


class MessyJudge:
    """A judge that answers in the form asked for, and then makes a mess of it; lists of texts are given as they are."""

    name = "messy"

    def __init__(self) -> None:
        self.mess: Messy = json.dumps
        self.made = False

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        """The reply."""
        plain = reply_in_form(messages, output)
        reply = json.loads(plain)
        messy = plain if "statements" in reply else self.mess(reply)
        self.made = self.made or messy != plain
        return Reply(text=messy, finish_reason="stop")


@pytest.mark.anyio
@pytest.mark.parametrize("name", [recipe.name for recipe in JUDGES])
async def test_a_messy_reply_comes_to_no_other_score(name: str) -> None:
    judge = MessyJudge()
    ge = GenkitEval(plugins=[judges(judge=judge)])

    (plain,) = await ge.score(data_point(**CASE), name)
    assert plain.score is not None
    for mess, messy in {**READ, **UNREADABLE}.items():
        judge.mess, judge.made = messy, False
        (metric,) = await ge.score(data_point(**CASE), name)
        if mess in READ or not judge.made:
            assert (mess, metric.score, metric.outcome) == (mess, plain.score, plain.outcome)
        else:
            assert (mess, metric.outcome, metric.score) == (mess, Outcome.FAILED, None)
            assert metric.error is not None
            assert metric.error.startswith("LLM judge error: ")
