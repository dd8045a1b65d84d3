"""`local/gguf:PATH`: a model file of yours as a judge, served on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

from anyio import to_thread
from pydantic import BaseModel, JsonValue

from genkit_eval import Message, Reply, Usage
from genkit_eval.errors import ConfigError, ModelError, ModelErrorKind
from genkit_eval.models import TokenLogprob
from genkit_eval_local.gguf_settings import GgufSettings

__all__ = ["GgufModel"]

MAGIC = b"GGUF"
HEAD_BYTES = 1 << 20
DEFAULTS: Mapping[str, JsonValue] = {"temperature": 0, "max_tokens": 2048}
RENAMED = {"max_output_tokens": "max_tokens", "stop_sequences": "stop"}


class GgufModel:
    """An instruct model in a GGUF file, answered by llama.cpp's own server in a process on this machine.

    The process is started at the first call, serves all models of this file and these settings, listens on the
    loopback address with a random key, and ends with the program. Nothing is sent anywhere else.

    What it can judge depends on the model: those of a few hundred million parameters judge at chance.
    It reads text only.
    """

    sees = False

    def __init__(self, path: str | Path, settings: GgufSettings | None = None) -> None:
        """
        Raises:
            ConfigError: there is no such file, or it is no GGUF.
        """
        self.name = f"local/gguf:{path}"
        self._path = Path(path).expanduser().absolute()
        self._settings = settings or GgufSettings()
        try:
            with self._path.open("rb") as file:
                magic = file.read(len(MAGIC))
        except OSError as problem:
            raise ConfigError(f"model '{self.name}': {self._path}: {problem.strerror}: give a GGUF file") from problem
        if magic != MAGIC:
            raise ConfigError(f"model '{self.name}': {self._path} is no GGUF file: it does not begin with {MAGIC!r}")

    def __repr__(self) -> str:
        return f"GgufModel({str(self._path)!r})"

    @cached_property
    def identity(self) -> str:
        """What tells this file, as it is now, from others: reading all of it would take a minute."""
        size, changed = self._path.stat().st_size, self._path.stat().st_mtime_ns
        with self._path.open("rb") as file:
            head = blake2b(file.read(HEAD_BYTES), digest_size=12).hexdigest()
        return f"{self._path} of {size} bytes, changed {changed}, {head}, {self._settings.context_tokens} tokens"

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        """The reply to these messages; with `output` the server lets nothing through but JSON of that schema.

        Args:
            messages: system, user and assistant.
            output: the form of the reply's JSON; the text comes back as it is, for the caller to validate.
            config: parameters of llama.cpp's server ("temperature", "seed", "top_k" …), and "max_output_tokens".
                Unless given, temperature 0 and 2,048 tokens.

        Raises:
            ModelError: no usable reply; its `kind` says which way.
            ConfigError: `xllamacpp` is not installed, or the file cannot be loaded.
        """
        given = {RENAMED.get(key, key): value for key, value in (config or {}).items()}
        body: dict[str, JsonValue] = {**DEFAULTS, **given, "stream": False}
        body["messages"] = [{"role": message.role, "content": message.content} for message in messages]
        if output is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": output.__name__, "schema": output.model_json_schema()},
            }
        status, content = await self._posted(body)
        answer = _object(content)
        if status != 200 or not answer.get("choices"):
            raise self._refused(status, answer)
        return _reply(answer, self.name)

    async def _posted(self, body: dict[str, JsonValue]) -> tuple[int, bytes]:
        # the HTTP library costs 15 ms at import, for those only who call
        from genkit_eval_local._llama_server import server_for

        server = await to_thread.run_sync(server_for, self._path, self._settings)
        try:
            return await server.post(body)
        except TimeoutError as problem:
            seconds = self._settings.timeout_seconds
            said = f"{self.name} gave no reply within {seconds:g} s: raise timeout_seconds, or take a smaller model"
            raise ModelError(said, kind="timeout", model=self.name) from problem
        except ConnectionError as problem:
            raise ModelError(f"{self.name} hung up: {problem}", kind="connection", model=self.name) from problem

    def _refused(self, status: int, answer: Mapping[str, Any]) -> ModelError:
        error = answer.get("error")
        fields: Mapping[str, Any] = error if isinstance(error, dict) else {"message": "no choices in the reply"}
        if fields.get("type") == "exceed_context_size_error":
            return ModelError(
                f"{self.name}: the prompt has {fields.get('n_prompt_tokens')} tokens, and a slot holds "
                f"{fields.get('n_ctx')}: raise context_tokens, or shorten the prompt",
                kind="window",
                model=self.name,
            )
        kind: ModelErrorKind = "bad_request" if 400 <= status < 500 or status == 501 else "server"
        said = f"{self.name} refused the call (HTTP {status}: {fields.get('message')})"
        return ModelError(said, kind=kind, model=self.name)


def _object(content: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _reply(answer: Mapping[str, Any], name: str) -> Reply:
    choice, usage = answer["choices"][0], answer.get("usage") or {}
    tokens = (choice.get("logprobs") or {}).get("content")
    return Reply(
        text=choice["message"].get("content") or "",
        finish_reason=choice.get("finish_reason"),
        usage=Usage(
            input_tokens=usage.get("prompt_tokens"),
            output_tokens=usage.get("completion_tokens"),
            cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
        ),
        model=name,
        logprobs=None if tokens is None else [_logprob(token) for token in tokens],
    )


def _logprob(token: Mapping[str, Any]) -> TokenLogprob:
    others = {other["token"]: other["logprob"] for other in token.get("top_logprobs") or ()}
    return TokenLogprob(token=token["token"], logprob=token["logprob"], alternatives=others)
