"""Chat models over a server of OpenAI's protocol."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from importlib import import_module

import anyio
from anyio.lowlevel import RunVar
from pydantic import BaseModel, JsonValue

from genkit_eval import Message, Reply
from genkit_eval_openai.completion import reply_from
from genkit_eval_openai.connection import Connection
from genkit_eval_openai.dialect import Dialect, check_config
from genkit_eval_openai.faults import Fault

__all__ = ["ChatModel"]

FIRST_CALL_SECONDS = 5.0
"""So long the other calls wait for what the first finds out."""

_log = logging.getLogger(__name__)


class ChatModel:
    """A chat model by its name on the server.

    How the server wants to be asked (structured output, parameters it refuses) is found out by the first call,
    which the others wait for, and remembered.
    """

    def __init__(self, server: Connection, model: str, *, sees: bool | None = None) -> None:
        self.name = f"{server.endpoint.name}/{model}"
        self._sees = sees
        self._server, self._model = server, model
        self._dialect = Dialect()
        self._form_kept = False
        self._first_call = RunVar[anyio.Event | None](f"first call of {self.name}", None)

    def __repr__(self) -> str:
        return f"ChatModel({self.name!r})"

    @property
    def identity(self) -> str:
        """Its name and where its server is."""
        return self._server.endpoint.identity(self.name)

    @property
    def sees(self) -> bool | None:
        """Whether the model takes images: as it was said, or False once the server has refused some; else unknown."""
        return self._sees

    @property
    def not_sent(self) -> frozenset[str]:
        """Parameters that the server refuses for this model, so that calls go without them."""
        return self._dialect.without

    @property
    def abilities(self) -> Mapping[str, str]:
        """How the server wants to be asked for this model, as far as calls have shown."""
        dialect = self._dialect
        form = f"{dialect.form}, and the schema in the prompt" if dialect.spelled_out else dialect.form
        return {
            "form of JSON": form,
            "left out": ", ".join(sorted(dialect.without)) or "nothing",
            "limit goes by": "max_completion_tokens" if dialect.new_limit else "max_tokens",
        }

    def check(self, config: Mapping[str, JsonValue] | None = None) -> None:
        """Find out, before anything is paid for, what would keep calls from working.

        Raises:
            OpenAIError: there is no key. ConfigError: a parameter that a call sets by itself.
        """
        self._server.endpoint.check()
        check_config(config or {})
        # a second, which in the middle of the first call would hold up all others
        import_module("genkit_eval_openai.client")

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        """The reply to these messages, in one call; further ones only while the server refuses how it is asked.

        Args:
            output: the form of the reply's JSON; the text comes back as it is, for the caller to validate.
            config: parameters of the protocol, sent as they are ("temperature", "seed", "logprobs" …);
                "max_output_tokens" and "stop_sequences" by either name.

        Raises:
            OpenAIError: no usable reply; its `kind` says which way.
        """
        if output is None and not config:
            return await self._generated(messages, None, {})
        begun = self._first_call.get()
        if begun is not None:
            # a first call that stalls must not hold up all the others
            with anyio.move_on_after(FIRST_CALL_SECONDS):
                await begun.wait()
            return await self._generated(messages, output, config or {})
        done = anyio.Event()
        self._first_call.set(done)
        try:
            return await self._generated(messages, output, config or {})
        finally:
            done.set()

    async def _generated(
        self, messages: Sequence[Message], output: type[BaseModel] | None, config: Mapping[str, JsonValue]
    ) -> Reply:
        answer = await self._answered(messages, output, config)
        client = await self._server.client()
        reply = reply_from(answer, model=self.name, redact=client.redact_reply)
        if output is not None:
            self._look_at_form(kept=reply.text.lstrip()[:1] in ("{", "["))
        left_out = sorted(self.not_sent.intersection(config))
        return reply.model_copy(update={"not_applied": left_out}) if left_out else reply

    def remember(self, reply: Reply) -> None:
        """Take what a reply to an earlier program says of the server: which parameters it refuses."""
        self._dialect = self._dialect.joined(Dialect(without=frozenset(reply.not_applied)))

    async def _answered(
        self, messages: Sequence[Message], output: type[BaseModel] | None, config: Mapping[str, JsonValue]
    ) -> dict[str, JsonValue]:
        client = await self._server.client()
        first = dialect = self._dialect
        while True:
            body = dialect.body(self._model, messages, output, config)
            answer = await client.post("/chat/completions", body, model=self.name)
            if not isinstance(answer, Fault):
                # only what led to an answer is worth remembering
                if dialect is not first:
                    self._learn(dialect)
                return answer
            if answer.refuses_images and any(message.images for message in messages):
                self._sees = False
                raise answer.error(self.name, client.where, kind="no_images")
            other = dialect.after(answer, body)
            if other is None:
                raise answer.error(self.name, client.where)
            dialect = other

    def _look_at_form(self, *, kept: bool) -> None:
        """Find out whether the server takes the form for an advice; it was an accident where it has kept it before."""
        if kept:
            self._form_kept = True
        elif self._dialect.form == "json_schema" and not self._form_kept and not self._dialect.spelled_out:
            # the form was asked for and not kept: from now on the prompt says it too
            self._learn(Dialect(spelled_out=True))

    def _learn(self, dialect: Dialect) -> None:
        new = dialect.without - self._dialect.without
        if new:
            _log.warning("%s refuses %s: it is asked without from now on", self.name, ", ".join(sorted(new)))
        self._dialect = self._dialect.joined(dialect)
