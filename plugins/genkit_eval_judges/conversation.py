"""Judges of whole conversations: `judge/conversation_completeness`, `judge/knowledge_retention`, and how relevant the
last turn (`judge/turn_relevancy`) and each reply (`judge/exchange_relevancy`) is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from genkit_eval import Score, Turn
from genkit_eval.claims import GROUP_SIZE, ClaimVerdict, numbered, statements, verdicts
from genkit_eval.judged import NONE, Instruments, NothingToJudge
from genkit_eval.prompts import fenced
from genkit_eval.text import text_of
from genkit_eval_judges.counting import CountOptions, counted, nothing_counted
from genkit_eval_judges.inputs import Exchange, Inputs, answers, is_reply, told
from genkit_eval_judges.rating import rated, rated_aspects
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES", "exchange_relevancy", "knowledge_retention", "last_turn"]

BESIDE = ("system_prompt", "attachments")
"""What a conversation was held by, whatever was said in it."""


async def knowledge_retention(inputs: Inputs, options: CountOptions, use: Instruments) -> Score:
    """The share of the facts told before the last reply that no reply after them lost."""
    earlier, _ = _last_reply(inputs)
    facts = await statements(use.judge, use.prompts["statements"], {"earlier": numbered(told(earlier))})
    if not facts:
        return nothing_counted(options, "nothing was told that could be kept in mind")
    found = await verdicts(use.judge, use.prompts["verdicts"], facts, numbered(told(inputs.turns)))
    return counted(found, options, what="facts kept")


async def exchange_relevancy(inputs: Inputs, options: CountOptions, use: Instruments) -> Score:
    """The share of exchanges whose reply answers the user; one that nobody answered yet is left out."""
    exchanges = [exchange for exchange in inputs.exchanges if exchange.answer is not None]
    if not exchanges:
        return nothing_counted(options, "there is no exchange: nobody was answered")
    shown = [_shown(exchange) for exchange in exchanges]
    opening = "\n".join(told(inputs.opening))
    first = [
        text
        for text in (inputs.shown((*BESIDE, "answer_files") if inputs.turns else BESIDE), opening and fenced(opening))
        if text
    ]
    found: list[ClaimVerdict] = []
    for start in range(0, len(shown), GROUP_SIZE):
        before = [*first, *shown[:start]] or [NONE]
        group = shown[start : start + GROUP_SIZE]
        both = ("statements", "evidence")
        found += await verdicts(use.judge, use.prompts["verdicts"], group, before, marked=both)
    named = [
        replace(item, statement=f"{exchange.user} -> {exchange.answer or NONE}")
        for item, exchange in zip(found, exchanges, strict=True)
    ]
    return counted(named, options, what="exchanges in which the user is answered")


def last_turn(inputs: Inputs) -> Mapping[str, str]:
    """The last reply and what went before it, as places of a prompt."""
    earlier, reply = _last_reply(inputs)
    shown = "\n\n".join((fenced(numbered(told(earlier))), inputs.shown((*BESIDE, "answer_files")))).rstrip()
    return {"earlier": shown, "reply": fenced(text_of(reply.content))}


def _last_reply(inputs: Inputs) -> tuple[Sequence[Turn], Turn]:
    """The last turn in which an assistant speaks to the user, and the turns before it.

    Raises:
        NothingToJudge: there are fewer than two turns, nothing before a reply, or nothing in it.
    """
    turns = inputs.turns
    place = next((place for place in range(len(turns) - 1, -1, -1) if is_reply(turns[place])), None)
    if len(turns) < 2 or not place:
        raise NothingToJudge("there is no conversation to judge: it takes at least two turns, the later an assistant's")
    if not answers(turns[place]):
        raise NothingToJudge("the last reply is empty")
    return turns[:place], turns[place]


def _shown(exchange: Exchange) -> str:
    return f"User:\n{fenced(exchange.user or NONE)}\nReply:\n{fenced(exchange.answer or NONE)}"


JUDGES = (
    Recipe(
        name="judge/conversation_completeness",
        ask=rated(),
        prompts={"rating": "conversation_completeness"},
        needs=("turns", "goal"),
        display_name="Conversation completeness",
        definition="The conversation reached its goal.",
        formula="(s - 1) / 4, of a rating from 1 to 5",
        source="TnsAI",
        calls="1",
        aliases={"tnsai/conversation_completeness": {}},
    ),
    Recipe(
        name="judge/knowledge_retention",
        ask=knowledge_retention,
        prompts={"statements": "knowledge_retention_facts", "verdicts": "knowledge_retention_verdicts"},
        needs=("turns",),
        options=CountOptions,
        display_name="Knowledge retention",
        definition="What was told in earlier turns is neither asked for again nor contradicted. Needs two turns.",
        formula="facts kept / facts told before the last reply",
        source="TnsAI",
        calls="1 + 1 for every 20 facts",
        aliases={"tnsai/knowledge_retention": {}},
    ),
    Recipe(
        name="judge/turn_relevancy",
        ask=rated_aspects("context_alignment", "query_addressing", "coherence", places=last_turn),
        prompts={"rating": "turn_relevancy"},
        needs=("turns",),
        display_name="Turn relevancy",
        definition="The last reply fits the conversation, meets what the user wanted, and hangs together. Needs two "
        "turns, the later an assistant's.",
        formula="mean of context alignment, query addressing and coherence, each 1 to 5 as (s - 1) / 4",
        source="TnsAI",
        calls="1",
        aliases={"tnsai/turn_relevancy": {}},
    ),
    Recipe(
        name="judge/exchange_relevancy",
        ask=exchange_relevancy,
        prompts={"verdicts": "exchange_relevancy"},
        needs=(),
        reads=("turns", "request", "response"),
        options=CountOptions,
        display_name="Exchange relevancy",
        definition="Each reply answers what the user said. Needs turns, or a request and an answer.",
        formula="exchanges in which the user is answered / exchanges",
        source="Akka evalkit",
        calls="1 for every 20 exchanges",
        aliases={"akka/TurnRelevancy": {}},
    ),
)
