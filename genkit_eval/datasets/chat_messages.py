"""From one chat in OpenAI's form to the keys of a sample: turns, tools linked to what they gave, the last answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from genkit_eval._json import json_text
from genkit_eval.datasets.fields import kind_of
from genkit_eval.errors import no_constant

__all__ = ["NoChat", "notice_of", "sample_of_chat"]

Row = Mapping[str, Any]

_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_TEXT_PARTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_TOOLS = {"function": "arguments", "custom": "input"}
"""Kinds of tools, and under which key a call has what it was called with."""
_USAGE = {"prompt_tokens": "inputTokens", "completion_tokens": "outputTokens"}
_READ = {
    "messages",
    "tools",
    "functions",
    "model",
    "request",
    "response",
    "body",
    "choices",
    "usage",
    "user",
    "metadata",
    "id",
    "custom_id",
}
_HOW_ASKED = {
    "object",
    "created",
    "temperature",
    "top_p",
    "n",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "tool_choice",
    "function_call",
    "parallel_tool_calls",
    "seed",
    "stop",
    "frequency_penalty",
    "presence_penalty",
    "logprobs",
    "top_logprobs",
    "store",
    "reasoning_effort",
    "service_tier",
    "system_fingerprint",
    "error",
    "method",
    "url",
    "logit_bias",
    "modalities",
    "prediction",
    "verbosity",
    "web_search_options",
    "prompt_cache_key",
    "safety_identifier",
}
"""Keys of a logged call that say only how the model was asked."""


class NoChat(ValueError):
    """A row that is no chat; its text says what was found, `path` where."""

    def __init__(self, message: str, path: str | None = None) -> None:
        self.path = path
        super().__init__(message)


def sample_of_chat(row: object) -> dict[str, Any]:
    """The JSON object of a sample.

    A row is a list of messages, an object with `messages` (and `tools`, `user`, `metadata` …), or one with `request`
    (or `body`) and `response`, whose message is then the last. Keys of a sample beside them stay.

    Raises:
        NoChat: it is none of these, or a message is not one.
    """
    given = {"messages": row} if isinstance(row, list) else row
    if not isinstance(given, dict):
        raise NoChat(f"expected a chat (a list of messages, or an object with 'messages'), found {kind_of(row)}")
    request = next((given[key] for key in ("request", "body") if isinstance(given.get(key), dict)), given)
    response = _response(given)
    chat = _Chat()
    for number, message in enumerate((*_messages(request, given), *_answers(response, given))):
        chat.add(message, f"messages[{number}]")
    own = {key: value for key, value in given.items() if key not in _READ | _HOW_ASKED}
    return {**_about(given, request, response), **chat.sample(), **own}


def notice_of(row: object) -> str | None:
    """What of a chat is left out, if anything: a call that asked for several answers has one sample, with the first."""
    choices = _response(row).get("choices") if isinstance(row, dict) else None
    return "only the first of several choices is read" if isinstance(choices, list) and len(choices) > 1 else None


def _messages(request: Row, given: Row) -> Sequence[object]:
    messages = request.get("messages")
    if isinstance(messages, list) and messages:
        return messages
    if "messages" in request:
        found = "empty" if messages == [] else kind_of(messages)
        raise NoChat(f"'messages' is {found}: expected a list of messages")
    if "response" in given:
        raise NoChat("there is a response without its request: put what was asked beside it, as 'request' or 'body'")
    raise NoChat(f"there are no 'messages' (found {_keys(given)})")


def _keys(row: Row) -> str:
    return ", ".join(f"'{key}'" for key in list(row)[:8]) or "no key at all"


def _response(given: Row) -> Row:
    """What the model answered: the completion under `response`, there perhaps under `body`, or the row itself."""
    found = given.get("response")
    if found is None:
        return given
    if not isinstance(found, dict):
        raise NoChat(f"'response' is {kind_of(found)}: expected a completion, an object with 'choices'", "response")
    body = found.get("body")
    return body if isinstance(body, dict) else found


def _answers(response: Row, given: Row) -> Sequence[object]:
    """The message of the first choice; none where the call failed, or nothing of its response was logged."""
    choices = response.get("choices")
    if choices is None:
        if response is not given and not response.keys() & {"error", "status_code"}:
            raise NoChat(f"the response has no 'choices' (found {_keys(response)}): expected a chat completion")
        return []
    first = choices[0] if isinstance(choices, list) and choices else {}
    if not isinstance(choices, list) or not isinstance(first, dict):
        raise NoChat("'choices' is no list of answers with a 'message' each")
    return [first["message"]] if "message" in first else []


def _about(given: Row, request: Row, response: Row) -> dict[str, Any]:
    """What is said about the chat: its id, whose it is, the tools on offer, what it cost."""
    metadata: Mapping[str, Any] = next(
        (item["metadata"] for item in (given, request) if isinstance(item.get("metadata"), dict)), {}
    )
    name = next((given[key] for key in ("custom_id", "id") if isinstance(given.get(key), str)), response.get("id"))
    user = given.get("user", request.get("user"))
    usage = response.get("usage")
    counts = {new: usage[key] for key, new in _USAGE.items() if key in usage} if isinstance(usage, dict) else {}
    found = {
        "testCaseId": name if isinstance(name, str) else None,
        "userId": user if isinstance(user, str) else metadata.get("user_id"),
        "sessionId": metadata.get("session_id"),
        "toolCatalog": [*_offered(request)],
        "usage": {**counts, "modelCalls": 1} if counts else None,
        "custom": {key: value for key, value in metadata.items() if key not in ("user_id", "session_id")},
    }
    return {key: value for key, value in found.items() if value}


def _offered(request: Row) -> Iterator[object]:
    key = "tools" if request.get("tools") else "functions"
    for number, tool in enumerate(_list(request.get(key), key)):
        if not isinstance(tool, dict):
            raise NoChat(f"expected a tool, found {kind_of(tool)}", f"{key}[{number}]")
        yield next((tool[kind] for kind in _TOOLS if isinstance(tool.get(kind), dict)), tool)


def _list(value: object, path: str) -> Sequence[Any]:
    """A list that may be left out."""
    if value is not None and not isinstance(value, list):
        raise NoChat(f"expected a list, found {kind_of(value)}", path)
    return value or ()


@dataclass(slots=True)
class _Chat:
    """A chat as far as it was read."""

    system: list[str] = field(default_factory=list)
    turns: list[dict[str, Any]] = field(default_factory=list)
    tools: list[dict[str, Any]] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    made: list[dict[str, Any]] = field(default_factory=list)
    """Files of the last message, if that is an assistant's."""

    def add(self, message: object, path: str) -> None:
        if not isinstance(message, dict):
            raise NoChat(f"expected a message, found {kind_of(message)}", path)
        role = _ROLES.get(str(message.get("role")))
        if role is None:
            raise NoChat(f"the role is {message.get('role')!r}: expected one of {', '.join(_ROLES)}", path)
        self.attachments += self.made
        files: list[dict[str, Any]] = []
        text = _text(message, role, path, files)
        self.made = files if role == "assistant" else []
        self.attachments += files if role != "assistant" else []
        if role == "system" and not self.turns:
            self.system.append(text)
            return
        turn: dict[str, Any] = {"role": role, "content": text}
        calls = [*_calls(message, path)]
        if calls:
            turn["toolCalls"] = calls
            # their outputs come to be known, and a turn keeps what the assistant said
            self.tools += [{**call} for call in calls]
        if role == "tool":
            turn |= self._linked(message, text, path)
        self.turns.append(turn)

    def _linked(self, message: Row, text: str, path: str) -> dict[str, str]:
        """Give the call that a tool answers its output."""
        name = message.get("tool_call_id")
        key, value = ("id", name) if name is not None else ("name", message.get("name"))
        if value is None:
            raise NoChat("a message of a tool has no 'tool_call_id', which says whose answer it is", path)
        waiting = [call for call in self.tools if "output" not in call]
        answered = next((call for call in waiting if call.get(key) == value), None)
        if answered is None:
            called = f"tool_call_id {name!r}" if name is not None else f"a message of tool {value!r}"
            which = ", ".join(repr(call.get(key)) for call in waiting[:5]) or "none"
            raise NoChat(f"{called} answers no call before it; without an answer so far: {which}", path)
        answered["output"] = _value(text)
        return {"toolCallId": name} if isinstance(name, str) else {}

    def sample(self) -> dict[str, Any]:
        asked = [turn["content"] for turn in self.turns if turn["role"] == "user"]
        last = self.turns[-1] if self.turns else {}
        found: dict[str, Any] = {"turns": self.turns}
        if asked:
            found["input"] = asked[-1]
        if last.get("role") == "assistant" and (last["content"].strip() or self.made):
            found["output"] = last["content"]
        if self.system:
            found["systemPrompt"] = "\n\n".join(self.system)
        if self.tools:
            found["tools"] = self.tools
        if self.attachments:
            found["attachments"] = self.attachments
        if self.made:
            found["outputAttachments"] = self.made
        return found


def _text(message: Row, role: str, path: str, files: list[dict[str, Any]]) -> str:
    """What a message says; the files that it shows are added to `files`."""
    shown = [*_list(message.get("images"), f"{path}.images")]
    content = message.get("content")
    if content is None:
        refusal = message.get("refusal")
        said = [refusal] if isinstance(refusal, str) else []
    elif isinstance(content, str):
        said = [content]
    elif isinstance(content, list):
        said = [text for part in content for text in _part(part, path, files)]
    elif role == "tool":
        said = [json_text(content)]
    else:
        raise NoChat(f"the content is {kind_of(content)}: expected text or a list of parts", path)
    # some gateways put what a model has drawn beside its content
    return "\n".join([*said, *(text for part in shown for text in _part(part, path, files))])


def _part(part: object, path: str, files: list[dict[str, Any]]) -> Iterator[str]:
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(part, dict) and isinstance(kind, str) and kind in _TEXT_PARTS:
        text = part.get(_TEXT_PARTS[kind])
        if not isinstance(text, str):
            raise NoChat(f"the {_TEXT_PARTS[kind]} of a part is {kind_of(text)}: expected text", path)
        yield text
    elif isinstance(part, dict) and kind in ("image_url", "input_image"):
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, dict) else image
        if not isinstance(url, str):
            raise NoChat("an image without an address", path)
        files.append({"url": url})
    elif isinstance(part, dict) and kind == "file":
        files.append(_file(part.get("file"), path))
    else:
        raise NoChat(f"a part of type {kind!r} cannot be read: expected text, image_url or file", path)


def _file(given: object, path: str) -> dict[str, str]:
    file = given if isinstance(given, dict) else {}
    data, name = file.get("file_data"), file.get("filename")
    if not isinstance(data, str):
        raise NoChat("a file without its data: expected a 'file_data' that begins with data:", path)
    # which some write without saying what it is
    url = data if data[:5].lower() == "data:" else f"data:;base64,{data}"
    return {"url": url, "name": name} if isinstance(name, str) else {"url": url}


def _calls(message: Row, path: str) -> Iterator[dict[str, Any]]:
    given = _list(message.get("tool_calls"), f"{path}.tool_calls")
    legacy = message.get("function_call")
    for call in (*given, {"function": legacy}) if isinstance(legacy, dict) else given:
        made = call if isinstance(call, dict) else {}
        kind = next((kind for kind in _TOOLS if isinstance(made.get(kind), dict)), None)
        if kind is None or not isinstance(made[kind].get("name"), str):
            raise NoChat("a call of a tool without the name of a function", path)
        found = {"name": made[kind]["name"], "arguments": _value(made[kind].get(_TOOLS[kind]) or "{}")}
        yield {**found, "id": call["id"]} if isinstance(call.get("id"), str) else found


def _value(text: object) -> object:
    """What a text says as a JSON object or list; the text itself where it is none, as models write them."""
    if not isinstance(text, str):
        return text
    try:
        found = json.loads(text, parse_constant=no_constant)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, dict | list) else text
