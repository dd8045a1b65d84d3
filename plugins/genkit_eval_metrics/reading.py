"""What a judge reads of a data point: question, answer, context and reference as texts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from genkit_eval import DataPoint, json_text
from genkit_eval.errors import DataError
from genkit_eval.judged import NO_FILES, Files, NothingToJudge
from genkit_eval.workers import POOL
from genkit_eval_metrics._reference import jsonata_fault, quoted

__all__ = ["Beside", "ReadingOptions", "Texts", "expression_problem", "read"]

PICK_SECONDS = 5.0
MAX_PICKED = 2_000_000
DOCUMENT_KEYS = ("text", "content", "page_content")
Beside = Literal["context", "question"]
"""With which of the texts files that are attached to a case are shown."""
FIELDS = {"question": "input", "answer": "output", "context": "context", "reference": "reference"}


class ReadingOptions(BaseModel):
    """Where question, answer, context and reference are found, if not in the usual places."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    question: str | None = Field(
        default=None, description="JSONata over the data point that picks the question, like 'input.query'."
    )
    answer: str | None = Field(
        default=None, description="JSONata over the data point that picks the answer, like 'output.reply.text'."
    )
    context: str | None = Field(
        default=None, description="JSONata over the data point that picks the documents, like 'output.sources.text'."
    )
    reference: str | None = Field(
        default=None, description="JSONata over the data point that picks the reference, like 'reference.answer'."
    )


@dataclass(frozen=True, slots=True)
class Texts:
    """The parts of a data point as texts; what it does not have is empty."""

    question: str = ""
    answer: str = ""
    context: tuple[str, ...] = ()
    reference: str = ""

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents of the context that hold something to read."""
        return tuple(document for document in self.context if document.strip())


async def read(
    point: DataPoint,
    options: ReadingOptions,
    *,
    needs: Collection[str] = (),
    files: Files = NO_FILES,
    beside: Beside | None = None,
) -> Texts:
    """The texts of a data point.

    Question and answer are the whole input and output, or what these objects have under `question` and `answer`; the
    context is that of the data point, else what the input or the output has under `context`. Objects are given as
    compact JSON, documents as their text where they have one.

    Args:
        point: the data point; it is not changed.
        options: JSONata expressions that pick other places.
        needs: those of `Texts` without which there is nothing to judge.
        files: those of the data point; the answer's own belong to the answer.
        beside: with which of the texts the attached ones are shown; None: they are none of the metric's business.

    Raises:
        NothingToJudge: one of `needs` is missing or blank.
        DataError: an expression is wrong or took too long.
    """
    question = _text(await _picked(point, options.question), "question", point.input)
    attached = files.attached.told
    texts = Texts(
        question=_joined([question, "Attached files:", *attached]) if attached and beside == "question" else question,
        answer=_joined([_text(await _picked(point, options.answer), "answer", point.output), *files.answer.told]),
        context=(*_documents(await _picked(point, options.context), point), *(attached if beside == "context" else ())),
        reference=_text(await _picked(point, options.reference), "answer", point.reference),
    )
    for name in needs:
        if not (texts.documents if name == "context" else getattr(texts, name).strip()):
            why = f"{FIELDS[name]} is empty" if point.has(FIELDS[name]) else f"no {FIELDS[name]} was given"
            if name == "context" and point.attachments and beside != "context":
                why += "; the attached files are none, as no search brought them"
            raise NothingToJudge(why)
    return texts


def expression_problem(options: ReadingOptions) -> str | None:
    """What is wrong with an expression among the options, or None."""
    for name in FIELDS:
        expression = getattr(options, name)
        if expression is None:
            continue
        try:
            reply = POOL.call("check", expression, seconds=PICK_SECONDS)
        except TimeoutError:
            return f"option '{name}': {quoted(expression)} takes more than {PICK_SECONDS:g} s to compile"
        if "error" in reply:
            return f"option '{name}': {jsonata_fault(expression, reply['error'])}"
    return None


@dataclass(frozen=True, slots=True)
class _Picked:
    value: JsonValue


async def _picked(point: DataPoint, expression: str | None) -> _Picked | None:
    """What the expression gives, or None where there is no expression."""
    if expression is None:
        return None
    document = {name: getattr(point, name) for name in FIELDS.values() if point.has(name)}

    def pick() -> dict[str, Any]:
        return POOL.call("jsonata", expression, document, MAX_PICKED, seconds=PICK_SECONDS)

    try:
        # off the event loop: it waits for another process
        reply = await anyio.to_thread.run_sync(pick)
    except TimeoutError:
        raise DataError(
            f"timeout: the JSONata expression {quoted(expression)} took more than {PICK_SECONDS:g} s"
        ) from None
    if "error" in reply:
        raise DataError(jsonata_fault(expression, reply["error"]))
    details = reply.get("details", {})
    if "resultOmitted" in details:
        raise DataError(f"the JSONata expression {quoted(expression)} picks too much: {details['resultOmitted']}")
    return _Picked(details.get("result"))


def _joined(texts: Sequence[str]) -> str:
    return "\n\n".join(text for text in texts if text.strip()) if len(texts) > 1 else texts[0]


def _text(picked: _Picked | None, key: str, whole: JsonValue) -> str:
    if picked is not None:
        value = picked.value
    elif isinstance(whole, dict) and key in whole:
        value = whole[key]
    else:
        value = whole
    return "" if value is None or value in ({}, []) else json_text(value)


def _documents(picked: _Picked | None, point: DataPoint) -> tuple[str, ...]:
    if picked is not None:
        value: Any = picked.value
    elif point.context:
        value = list(point.context)
    else:
        places = (place for place in (point.input, point.output) if isinstance(place, dict))
        value = next((place["context"] for place in places if place.get("context")), None)
    if value is None:
        return ()
    return tuple(_document_text(item) for item in (value if isinstance(value, list) else [value]))


def _document_text(document: JsonValue) -> str:
    """The text of a document: itself, its text, or the texts of its parts; else its JSON."""
    if document is None:
        return ""
    if isinstance(document, dict):
        for key in DOCUMENT_KEYS:
            value = document.get(key)
            if isinstance(value, str):
                return value
            if isinstance(value, list):
                parts = [part["text"] for part in value if isinstance(part, dict) and isinstance(part.get("text"), str)]
                if parts:
                    return "\n".join(str(part) for part in parts)
    return json_text(document)
