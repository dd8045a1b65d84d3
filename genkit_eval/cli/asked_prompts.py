"""What an evaluator sends its judge for a case, shown without asking anybody."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel, JsonValue

from genkit_eval.cli.output import say, say_json
from genkit_eval.cli.prepared import open_with_judge, prepared_evaluator
from genkit_eval.cli.samples import data_of, samples_of
from genkit_eval.cli.session import Session
from genkit_eval.dataset_access import dataset_reader
from genkit_eval.definitions import Evaluator
from genkit_eval.errors import ConfigError, ModelError
from genkit_eval.model_calls import caller
from genkit_eval.models import Embedder, Message, Model, Reply
from genkit_eval.report.documents import json_pieces
from genkit_eval.report.lines import Ink, Span, blank, line
from genkit_eval.testing.fakes import HashEmbedder
from genkit_eval.testing.forms import reply_in_form
from genkit_eval.types import DataPoint, Score
from genkit_eval.waiting import run_sync

__all__ = ["say_what_it_asks"]

T = TypeVar("T")


def say_what_it_asks(options: Mapping[str, JsonValue], name: str, data: str, *, format: str | None) -> None:
    """Print the messages that an evaluator sends for the first case of a file or dataset, call by call.

    Raises:
        ConfigError: it has no judge, the data hold no case, or nothing is asked of a judge for this one.
    """
    session = open_with_judge(options)
    evaluator = prepared_evaluator(session, name)
    if evaluator.needs is not None:
        raise ConfigError(f"evaluator '{evaluator.name}' {evaluator.needs}")
    if not evaluator.prompts:
        raise ConfigError(f"evaluator '{evaluator.name}' names no prompts")
    point = _first(session, data, format)
    calls, score = run_sync(_asked(session, evaluator, point))
    if not calls:
        why = f": {score.reason}" if score is not None and score.reason else ""
        which = f"case '{point.test_case_id}'" if point.test_case_id else "the first case"
        raise ConfigError(f"evaluator '{evaluator.name}' asks nothing about {which}{why}")
    if options["as_json"]:
        said: JsonValue = [[{"role": item.role, "content": item.content} for item in call] for call in calls]
        say_json(json_pieces({"name": evaluator.name, "testCaseId": point.test_case_id, "calls": said}))
        return
    for number, messages in enumerate(calls, 1):
        for item in messages:
            say([line(Span(f"# call {number}, {item.role}", Ink.STRONG))])
            say([*(line(row) for row in item.content.splitlines()), blank()])
    if len(calls) > 1:
        say([line(Span("What was replied in between is made up: later calls depend on it.", Ink.FAINT))])


def _first(session: Session, data: str, format: str | None) -> DataPoint:
    found = data_of(data, format=format)
    samples = session.ge.datasets.get(found).samples if isinstance(found, str) else samples_of(data, format=format)
    if not samples:
        raise ConfigError(f"{data} holds no case")
    return DataPoint.model_validate(samples[0].to_json())


async def _asked(
    session: Session, evaluator: Evaluator, point: DataPoint
) -> tuple[Sequence[Sequence[Message]], Score | None]:
    """The messages of each call, and what the evaluator made of the replies."""
    dataset_reader.set(lambda dataset, version: session.ge.datasets.get(dataset, version=version))
    recorder = _Recorder()
    before = caller.set(recorder)
    try:
        options = evaluator.parse_options({})
        found = evaluator.with_options({})
        score = await found.fn(point, options)
    except ModelError:
        # a reply that is made up may not be what was asked for
        score = None
    finally:
        caller.reset(before)
    return recorder.calls, score


class _Recorder:
    """Replies in the form that is asked for, in place of every model, and keeps what was asked."""

    def __init__(self) -> None:
        self.calls: list[Sequence[Message]] = []
        self._embedder = HashEmbedder()

    async def generate(
        self,
        model: Model,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None,
        config: Mapping[str, JsonValue] | None,
        read: Callable[[Reply], T],
    ) -> T:
        if all(list(messages[: len(call)]) != list(call) for call in self.calls):
            self.calls.append(messages)
        return read(Reply(text=reply_in_form(messages, output), finish_reason="stop"))

    async def embed(
        self, embedder: Embedder, texts: Sequence[str], *, config: Mapping[str, JsonValue] | None
    ) -> Sequence[Sequence[float]]:
        return await self._embedder.embed(texts)

    def settle(self, what: str, value: JsonValue) -> JsonValue:
        return value
