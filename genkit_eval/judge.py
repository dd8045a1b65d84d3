"""Judges: a model asked for a typed answer, which is read, repaired, asked for once more, or an error."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Protocol, TypeVar

from anyio import CapacityLimiter, to_thread
from pydantic import BaseModel, JsonValue, create_model

from genkit_eval.answers import Choice, Rating, Scale, Unit, Verdict
from genkit_eval.errors import ConfigError, JudgeError, ModelError, shortened
from genkit_eval.model_calls import generate
from genkit_eval.models import Image, Message, Model, Reply, model_name, model_sees
from genkit_eval.prompts import fenced_in, json_instructions
from genkit_eval.replies import Unreadable, read_answer, read_label

__all__ = ["Choice", "Judge", "Judgeable", "ModelSource", "Rating", "Scale", "Unit", "Verdict", "as_model"]

Answer = TypeVar("Answer", bound=BaseModel)
Read = TypeVar("Read")

Judgeable = str | Model | Callable[[str], str | Awaitable[str]]
"""What can be a judge: the name of a model, a model, or a function from the text of a prompt to that of a reply."""

QUOTED = 300
REPEATED = 4_000
CUT_FROM, KNOWN_TOKENS, MOST_A_TOKEN = 20_000, 500, 16
"""From which length of a prompt, and count of tokens, it is told by them whether all of it was read; a token of text
stands for some 4 characters."""


class ModelSource(Protocol):
    """Where models are found by name: a `Registry`."""

    def model(self, ref: str) -> Model:
        """The model of that name."""
        ...


def as_model(given: Judgeable, models: ModelSource | None = None) -> Model:
    """A model out of what can be one.

    A name is looked up when the model is first asked, so that its plugin may be installed later. A function gets
    the messages as one text; one that is not async runs in a thread.

    Raises:
        ConfigError: it is nothing of the kind.
    """
    if isinstance(given, str) and given.strip() and models is not None:
        return _NamedModel(given, models)
    if isinstance(given, Model) and not isinstance(given, type):
        return given
    if callable(given) and not isinstance(given, type):
        return _FunctionModel(given)
    raise ConfigError(
        f"{given!r} cannot be a judge: expected 'provider/name' of a model, a model (an object with an async method "
        "'generate'), or a function from prompt text to reply text"
    )


@dataclass(frozen=True)
class Judge:
    """A model that is asked for typed answers; `config` (temperature and the like) goes along with every call.

    Where it is shown images and takes none, asking ends with a `JudgeError` of the kind "no_images".
    """

    model: Model
    config: Mapping[str, JsonValue] | None = None
    images: Sequence[Image] = ()
    """What it is shown with every question."""

    @property
    def name(self) -> str:
        """The name of its model, as versions hold it."""
        return model_name(self.model)

    @property
    def sees(self) -> bool | None:
        """Whether its model takes images; None where only asking tells."""
        return model_sees(self.model.found() if isinstance(self.model, _NamedModel) else self.model)

    @property
    def left_out(self) -> list[str]:
        """Parameters of `config` that its model goes without because its server refuses them; known after a call."""
        model = self.model.found() if isinstance(self.model, _NamedModel) else self.model
        refused = getattr(model, "not_sent", ())
        return [name for name in self.config or () if name in refused]

    def check(self) -> None:
        """Find out, before anything is paid for, what would keep it from working.

        Raises:
            UnknownName: nobody defines a model of the name it goes by.
            ConfigError: there is a `config`, and its model is a function, which has no use for one.
            GenkitEvalError: what the model's own `check(config)` finds, if it has one: no key, say.
        """
        model = self.model.found() if isinstance(self.model, _NamedModel) else self.model
        # a model may know more: whether it has a key, which parameters it takes
        check = getattr(model, "check", None)
        if callable(check):
            check(self.config)
        if isinstance(self.model, _FunctionModel) and self.config:
            raise ConfigError(
                f"the judge is the function '{self.name}', which takes a prompt and no configuration: leave out "
                f"{', '.join(self.config)}, or give a model"
            )

    async def ask(self, messages: Sequence[Message], answer: type[Answer]) -> Answer:
        """The answer, in the shape that was asked for; a reply that does not fit is asked for once more.

        Raises:
            JudgeError: no reply, a refusal, a reply cut off, or two that do not fit; quotes how the last one began.
        """
        return (await self.ask_whole(messages, answer))[0]

    async def ask_whole(self, messages: Sequence[Message], answer: type[Answer]) -> tuple[Answer, Reply]:
        """As `ask`, with the reply that the answer was read from, which may hold log-probabilities."""

        def judged() -> str:
            return fenced_in("\n".join(message.content for message in messages))

        return await self._ask(messages, answer, lambda reply: (read_answer(reply.text, answer, judged=judged), reply))

    async def choose(self, messages: Sequence[Message], choices: Sequence[str]) -> str:
        """One of these labels; as JSON `{"label": …}`, alone, or as "Label: …", whatever its case and markup.

        Raises:
            JudgeError: as `ask`.
        """
        answer = _label_model(tuple(choices))

        def read(reply: Reply) -> str:
            if "{" not in reply.text:
                return read_label(reply.text, choices)
            # a dictionary, as the type checker knows no field of a model made here
            label: str = read_answer(reply.text, answer).model_dump()["label"]
            return label

        return await self._ask(messages, answer, read)

    async def _ask(self, messages: Sequence[Message], output: type[BaseModel], read: Callable[[Reply], Read]) -> Read:
        said, messages = "", _with_images(messages, self.images)

        def usable(reply: Reply) -> Read:
            nonlocal said
            said = self._whole(reply)
            self._refuse_cut(messages, reply)
            return read(reply)

        try:
            return await self._asked(messages, output, usable)
        except Unreadable as problem:
            again = [*messages, *_correction(said, problem)]
        try:
            return await self._asked(again, output, usable)
        except Unreadable as problem:
            raise self._unread(said, problem) from problem

    async def _asked(self, messages: Sequence[Message], output: type[BaseModel], read: Callable[[Reply], Read]) -> Read:
        model = self.model.found() if isinstance(self.model, _NamedModel) else self.model
        if self.images and model_sees(model) is False:
            raise JudgeError(f"the judge {self.name} takes no images", kind="no_images", model=self.name)
        try:
            return await generate(model, messages, output=output, config=self.config, read=read)
        except (JudgeError, Unreadable):
            raise
        except ModelError as problem:
            raise JudgeError(problem.problem, kind=problem.kind, model=self.name, text=problem.text) from problem
        except Exception as problem:
            raise JudgeError(f"{type(problem).__name__}: {problem}", model=self.name) from problem

    def _whole(self, reply: Reply) -> str:
        """The text of a reply that is whole."""
        if not isinstance(reply, Reply):
            raise JudgeError(f"the model returned {type(reply).__name__}, expected a Reply", model=self.name)
        if reply.refusal:
            raise JudgeError(f"refused: {_start(reply.refusal)}", kind="refused", model=self.name, text=reply.refusal)
        if reply.cut_off:
            cut = (
                f"the reply was cut off by the limit of tokens: raise it in judge_config; it began {_start(reply.text)}"
            )
            raise JudgeError(cut, kind="length", model=self.name, text=reply.text)
        if reply.filtered:
            raise JudgeError(
                "the provider's content filter stopped the reply",
                kind="content_filter",
                model=self.name,
                text=reply.text,
            )
        return reply.text

    def _refuse_cut(self, messages: Sequence[Message], reply: Reply) -> None:
        """Some servers cut what is too long without a word: they have then read far fewer tokens than were sent."""
        usage, sent = reply.usage, sum(len(message.content) for message in messages)
        tokens = 0 if usage is None else (usage.input_tokens or 0) + (usage.cached_tokens or 0)
        if sent > CUT_FROM and tokens > KNOWN_TOKENS and tokens * MOST_A_TOKEN < sent:
            cut = f"its server read {tokens:,} tokens of a prompt of {sent:,} characters, which is a part of it"
            raise JudgeError(cut, kind="window", model=self.name)

    def _unread(self, text: str, problem: Unreadable) -> JudgeError:
        if not text.strip():
            return JudgeError("the reply was empty, and again when asked once more", kind="empty", model=self.name)
        return JudgeError(
            f"no usable answer, though asked twice: {problem}; the reply began {_start(text)}",
            kind="unparsable",
            model=self.name,
            text=text,
        )


# making a model takes about a millisecond
@lru_cache(maxsize=64)
def _label_model(labels: tuple[str, ...]) -> type[BaseModel]:
    label: Any = Annotated[str, Choice(*labels)]
    return create_model("Label", label=(label, ...))


@dataclass(frozen=True)
class _NamedModel:
    name: str
    models: ModelSource

    def found(self) -> Model:
        return self.models.model(self.name)

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        return await self.found().generate(messages, output=output, config=config)


@dataclass(frozen=True)
class _FunctionModel:
    fn: Callable[[str], str | Awaitable[str]]
    sees = False

    @property
    def name(self) -> str:
        return getattr(self.fn, "__qualname__", type(self.fn).__qualname__)

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        parts = [message.content for message in messages]
        if output is not None:
            parts.append(json_instructions(output))
        prompt = "\n\n".join(parts)
        given = self.fn(prompt) if inspect.iscoroutinefunction(self.fn) else await _off_loop(self.fn, prompt)
        text = await given if inspect.isawaitable(given) else given
        if not isinstance(text, str):
            raise ModelError(f"the function '{self.name}' returned {type(text).__name__}, expected text")
        return Reply(text=text)


async def _off_loop(fn: Callable[[str], str | Awaitable[str]], prompt: str) -> str | Awaitable[str]:
    # in a tuple: trio refuses a function that returns something to await
    def call() -> tuple[str | Awaitable[str]]:
        return (fn(prompt),)

    # a limiter of its own: how many calls there are at one time is the caller's business
    (given,) = await to_thread.run_sync(call, abandon_on_cancel=True, limiter=CapacityLimiter(1))
    return given


def _with_images(messages: Sequence[Message], images: Sequence[Image]) -> Sequence[Message]:
    """The messages, the last of a user's with the images."""
    places = [place for place, message in enumerate(messages) if message.role == "user"]
    if not images or not places:
        return messages
    shown = list(messages)
    shown[places[-1]] = messages[places[-1]].model_copy(update={"images": tuple(images)})
    return shown


def _correction(text: str, problem: Unreadable) -> list[Message]:
    """What makes the second try differ from the first: the reply, and what was wrong with it."""
    said = [Message(role="assistant", content=text[:REPEATED])] if text.strip() else []
    return [
        *said,
        Message(
            role="user",
            content=f"That reply cannot be used: {problem}. Answer the same task again, in the form asked for, with "
            "nothing before or after it.",
        ),
    ]


def _start(text: str) -> str:
    return repr(shortened(text.strip(), QUOTED))
