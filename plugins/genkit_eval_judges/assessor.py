"""A function in place of a judge: it is told a task and what came of it, and gives a score with a reason."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

from anyio import CapacityLimiter, to_thread
from pydantic import BaseModel, JsonValue

from genkit_eval import Message, ModelError, Reply
from genkit_eval.judged import NONE, digest_of
from genkit_eval.prompts import fence_marks
from genkit_eval.scores import EDGE
from genkit_eval_judges.rating import GRAVITY

__all__ = ["Assess", "Assessor"]

Assessment = tuple[float | None, str]
Assess = Callable[[str, str], Assessment | Awaitable[Assessment]]
"""A function from a task, and what is held against it, to a score from 0 to 1 with a reason.

None in place of the score says that there was nothing to assess.
"""

HOLDS = 0.5
_PART = re.compile(r"\0(\d+)\0")
_ITEM = re.compile(r"^(\d+)\. (.+?)(?=^\d+\. |\n\n|\Z)", re.MULTILINE | re.DOTALL)
_HEADED = re.compile(r"^([^\n\0]+):\n\0(\d+)\0", re.MULTILINE)


class Assessor:
    """What `judges(judge=Assessor(fn))` takes in place of a model.

    Of a judge that rates as a whole, the task is the first part that the judge would see, and the rest, under
    headings, is held against it. The score is that of the evaluator: a rating from 1 to 5 is 1 + 4 x score, of `GEval`
    the nearest whole one, and a gravity 5 - 5 x score. A judge that counts asks of each counted thing: it is the task,
    and the evidence is held against it; of an exchange, the reply against what the user said. What has 0.5 or more
    holds. Judges that take a text apart into claims, or rate several aspects at once, need a model.

    Args:
        assess: the function, async or not; one that is not runs in a thread.
    """

    sees = False

    def __init__(self, assess: Assess) -> None:
        self._assess = assess
        self.name = f"assessor {getattr(assess, '__qualname__', type(assess).__qualname__)} {digest_of(assess)}"

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        """The function's assessment, in the form that the judge was to answer in.

        Raises:
            ModelError: the form is one that no score fits into, or the function gave no score from 0 to 1.
        """
        asked = _Asked.of(messages[-1].content if messages else "")
        names = set(output.model_fields) if output is not None else set()
        judgement = names - {"reason"}
        if output is not None and judgement in ({"rating"}, {"score"}, {"verdict"}):
            task, against = asked.whole()
            score, reason = await self._assessed(task, against)
            (name,) = judgement
            answer: JsonValue = {"reason": reason, name: None if score is None else _on_scale(output, name, score)}
        elif names in ({"verdicts"}, {"ratings"}) and asked.items:
            answer = {min(names): [await self._item(number, *asked.item(text)) for number, text in asked.items]}
        else:
            raise ModelError(
                "an assessor gives one score for a task, and this judge asks for claims or several ratings: give it a "
                "model as its judge",
                kind="bad_request",
                model=self.name,
            )
        return Reply(text=json.dumps(answer, ensure_ascii=False), finish_reason="stop", model=self.name)

    async def _item(self, number: int, task: str, against: str) -> JsonValue:
        score, reason = await self._assessed(task, against)
        if score is None:
            raise ModelError(f"the assessor gave no score for number {number}: {reason}", model=self.name)
        return {"number": number, "reason": reason, "verdict": score >= HOLDS, "rating": 1 + 4 * score}

    async def _assessed(self, task: str, against: str) -> Assessment:
        given: object = await self._given(task, against)
        match given:
            case (None, str(reason)):
                return None, reason
            case (Real() as score, str(reason)) if -EDGE <= float(score) <= 1 + EDGE:
                return min(max(float(score), 0.0), 1.0), reason
        raise ModelError(
            f"the assessor gave {given!r}; expected a score from 0 to 1, or None, and a reason", model=self.name
        )

    async def _given(self, task: str, against: str) -> object:
        if inspect.iscoroutinefunction(self._assess):
            return await self._assess(task, against)

        # in a tuple: trio refuses a function that returns something to await
        def call() -> tuple[object]:
            return (self._assess(task, against),)

        # a limiter of its own: how many calls there are at one time is the caller's business
        (given,) = await to_thread.run_sync(call, abandon_on_cancel=True, limiter=CapacityLimiter(1))
        return await given if inspect.isawaitable(given) else given


@dataclass(frozen=True, slots=True)
class _Asked:
    """A rendered prompt, read by its fences: what stands in them, and the text with numbers in their places."""

    parts: Sequence[str]
    text: str

    @classmethod
    def of(cls, prompt: str) -> _Asked:
        """A prompt as it is read."""
        parts: list[str] = []
        for mark in fence_marks(prompt):
            before, _, rest = prompt.partition(f"<{mark}>\n")
            inside, _, after = rest.partition(f"\n</{mark}>")
            prompt = f"{before}\0{len(parts)}\0{after}"
            parts.append(inside)
        return cls(parts, prompt)

    @property
    def items(self) -> list[tuple[int, str]]:
        """The numbered things, each with its number."""
        return [(int(number), text.strip()) for number, text in _ITEM.findall(self.text)]

    def whole(self) -> tuple[str, str]:
        """The first part, and the others."""
        first, *others = _HEADED.findall(self.text)
        return self.parts[int(first[1])], self._sections(others)

    def item(self, text: str) -> tuple[str, str]:
        """A numbered thing, and what it is held against."""
        inside = [int(number) for number in _PART.findall(text)]
        if len(inside) > 1:
            return self.parts[inside[0]], "\n\n".join(self.parts[number] for number in inside[1:])
        evidence = _HEADED.findall(_ITEM.sub("", self.text))
        return _PART.sub(lambda part: self.parts[int(part[1])], text), self._sections(evidence)

    def _sections(self, found: Sequence[tuple[str, str]]) -> str:
        shown = [(heading, self.parts[int(number)]) for heading, number in found]
        return "\n\n".join(f"{heading}:\n{text}" for heading, text in shown if text != NONE)


def _on_scale(output: type[BaseModel], name: str, score: float) -> bool | float:
    """A score in the judge's own numbers: those of its scale, the nearest of single ones, or whether it holds."""
    if name == "verdict":
        return score >= HOLDS
    if issubclass(output, GRAVITY):
        score = 1 - score
    schema = output.model_json_schema()["properties"][name]
    limits: Mapping[str, JsonValue] = next(
        (branch for branch in schema.get("anyOf", [schema]) if "minimum" in branch or "enum" in branch), {}
    )
    single = [number for number in _listed(limits.get("enum")) if isinstance(number, int)]
    low, high = (min(single), max(single)) if single else (limits.get("minimum", 0), limits.get("maximum", 1))
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    rating = low + score * (high - low)
    return min(single, key=lambda number: abs(number - rating)) if single else rating


def _listed(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, list) else []
