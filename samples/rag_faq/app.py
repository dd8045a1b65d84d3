"""A small RAG flow: entries of a FAQ are looked up, and a model answers from them. Judged by all of Genkit's metrics.

Which models is said by the environment, and there is no default:

    RAG_FAQ_MODEL      answers: "openai/NAME", with OPENAI_BASE_URL and OPENAI_API_KEY, or "local/gguf:PATH"
    RAG_FAQ_JUDGE      judges the answers; the same model, unless you say another one
    RAG_FAQ_EMBEDDER   compares questions, for answer relevancy; without one the judge decides alone
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from faq import Entry, Retriever, entries
from pydantic import JsonValue

from genkit_eval import ConfigError, GenkitEval, Prompt, record_context
from genkit_eval.prompts import fenced
from genkit_eval_local import local_metrics
from genkit_eval_metrics import genkit_metrics
from genkit_eval_openai import openai_models

__all__ = ["ge"]


def _model_named() -> str:
    name = os.environ.get("RAG_FAQ_MODEL")
    if not name:
        raise ConfigError(
            "RAG_FAQ_MODEL is not set: name a model, 'openai/NAME' with OPENAI_BASE_URL (and OPENAI_API_KEY if the "
            "server wants one), or 'local/gguf:PATH' for a GGUF file"
        )
    return name


MODEL = _model_named()

ge = GenkitEval(
    plugins=[
        openai_models(),
        local_metrics(),
        genkit_metrics(
            judge=os.environ.get("RAG_FAQ_JUDGE") or MODEL,
            judge_config={"temperature": 0},
            embedder=os.environ.get("RAG_FAQ_EMBEDDER") or None,
        ),
    ]
)

PROMPT = Prompt.load(Path(__file__).parent / "answer.prompt")
RETRIEVER = Retriever(entries())


@ge.flow("faqAnswer")
async def answer(question: str) -> str:
    """What the model says, from the entries that were found."""
    return await _answered(question, _found(question))


@ge.flow("faqReply")
async def reply(question: str) -> dict[str, JsonValue]:
    """The same, with the entries it stands on."""
    found = _found(question)
    return {"answer": await _answered(question, found), "sources": [entry.id for entry in found]}


@ge.flow("faqEntry")
def entry(question: str) -> str | None:
    """Only the entry that fits best: the retriever by itself, without a model."""
    found = _found(question)
    return found[0].id if found else None


def _found(question: str) -> list[Entry]:
    found = RETRIEVER.search(question)
    # evaluators find it in `point.context`, and the run file keeps it
    record_context(*({"id": entry.id, "text": entry.text} for entry in found))
    return found


async def _answered(question: str, found: Sequence[Entry]) -> str:
    texts = "\n\n".join(entry.text for entry in found) or "(none)"
    # what visitors write is data to the model, not instructions
    messages = PROMPT.render({"question": fenced(question), "entries": fenced(texts)})
    answered = await ge.registry.model(MODEL).generate(messages, config={"temperature": 0})
    return answered.text.strip()
