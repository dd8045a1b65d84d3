"""Judges of what answers stand on: `judge/faithfulness`, `judge/hallucination` and `judge/turn_faithfulness`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pydantic import Field

from genkit_eval import Score
from genkit_eval.claims import statements, verdicts
from genkit_eval.judged import NONE, Instruments, NothingToJudge, side_by_side
from genkit_eval.prompts import fenced
from genkit_eval.text import text_of
from genkit_eval_judges.counting import CountOptions, counted, nothing_counted, supported_claims
from genkit_eval_judges.inputs import Inputs, set_in, told
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES", "HallucinationOptions", "hallucination", "turn_faithfulness"]


class HallucinationOptions(CountOptions):
    """What to do without a context."""

    alone: bool = Field(
        default=True,
        description="Without a context, hold the answer against itself and what is known; false: inconclusive.",
    )


async def hallucination(inputs: Inputs, options: HallucinationOptions, use: Instruments) -> Score:
    """The share of what could be made up that is not: by the context, else by what the answer itself gives away."""
    retrieved = [f"Document:\n{fenced(document)}" for document in inputs.documents if document.strip()]
    if not retrieved and not options.alone:
        raise NothingToJudge("there is no context to judge by")
    inputs.files.require_text()
    texts = {"request": inputs.request or NONE, "response": inputs.response}
    claims = await statements(use.judge, use.prompts["statements"], texts)
    if not claims:
        return nothing_counted(options, "the answer holds nothing that could be made up")
    if retrieved:
        # what the user said is no invention either
        evidence = [text for text in (inputs.shown(("request",), files=False), *retrieved) if text]
        form, what = "context", "specifics come from the context"
    else:
        evidence = [inputs.shown(("request", "response"))]
        form, what = "alone", "specifics are clean, as far as the answer alone shows it"
    found = await verdicts(use.judge, use.prompts[form], claims, evidence, marked=("evidence",))
    return counted(found, options, what=what, details={"heldAgainst": form})


async def turn_faithfulness(inputs: Inputs, options: CountOptions, use: Instruments) -> Score:
    """The share of the claims in all replies of a conversation that a retrieved passage carries."""
    passages = _passages(inputs)
    if not passages:
        raise NothingToJudge("nothing was retrieved: there is no context, and no tool gave anything")
    inputs.files.require_text()
    answered = [number for number, item in enumerate(inputs.exchanges) if item.answer]
    if not answered:
        raise NothingToJudge("there is no reply to judge")
    by_exchange = await side_by_side([partial(_claims_of, inputs, number, use) for number in answered])
    claims = [claim for found in by_exchange for claim in found]
    if not claims:
        return nothing_counted(options, "the replies claim nothing that could be checked")
    found = await verdicts(use.judge, use.prompts["verdicts"], claims, passages)
    exchanges = [f"exchange {number + 1}" for number, found in zip(answered, by_exchange, strict=True) for _ in found]
    return counted(found, options, what="claims carried by the passages", categories=exchanges)


async def _claims_of(inputs: Inputs, number: int, use: Instruments) -> list[str]:
    before = inputs.exchanges[:number]
    said = [set_in(line) for item in before for line in (f"user: {item.user}", f"assistant: {item.answer}")]
    exchange = inputs.exchanges[number]
    texts = {
        "earlier": "\n".join((*told(inputs.opening), *said)) or NONE,
        "request": exchange.user or NONE,
        "response": exchange.answer or NONE,
    }
    return await statements(use.judge, use.prompts["statements"], texts)


def _passages(inputs: Inputs) -> Sequence[str]:
    """What was retrieved: the context, and what tools gave."""
    given = [text_of(call.output) for call in inputs.tools if call.has("output")]
    told = [text_of(turn.content) for turn in inputs.turns if turn.role == "tool"]
    return list(dict.fromkeys(text for text in (*inputs.documents, *given, *told) if text.strip()))


JUDGES = (
    Recipe(
        name="judge/faithfulness",
        ask=supported_claims(
            of="response",
            what="claims borne out by the documents",
            nothing="the answer claims nothing that could be checked",
        ),
        prompts={"statements": "faithfulness_claims", "verdicts": "faithfulness_verdicts"},
        needs=("response", "context"),
        reads=("request",),
        options=CountOptions,
        display_name="Faithfulness",
        definition="The retrieved documents bear out what the answer claims.",
        formula="claims borne out / claims of the answer",
        source="TnsAI",
        calls="1 + 1 for every 20 claims",
        aliases={"tnsai/faithfulness": {}, "akka/Faithfulness": {"on_empty": 1.0}},
    ),
    Recipe(
        name="judge/hallucination",
        ask=hallucination,
        prompts={
            "statements": "hallucination_claims",
            "context": "hallucination_context",
            "alone": "hallucination_alone",
        },
        needs=("response",),
        reads=("request", "context"),
        options=HallucinationOptions,
        display_name="Hallucination",
        definition="Nothing in the answer is made up: its specifics come from the context and the request; without a "
        "context, it contradicts neither itself nor what is known, and refers to nothing that does not exist.",
        formula="specifics that are not made up / specifics of the answer",
        source="TnsAI",
        calls="1 + 1 for every 20 specifics",
        aliases={"tnsai/hallucination": {}, "akka/Hallucination": {"on_empty": 1.0, "alone": False}},
    ),
    Recipe(
        name="judge/turn_faithfulness",
        ask=turn_faithfulness,
        prompts={"statements": "turn_faithfulness_claims", "verdicts": "turn_faithfulness_verdicts"},
        needs=("response",),
        reads=("request", "turns", "context", "tools"),
        options=CountOptions,
        display_name="Turn faithfulness",
        definition="What was retrieved (the context, what tools gave) carries the claims of all replies.",
        formula="claims carried / claims of all replies",
        source="Akka evalkit",
        calls="1 for every reply + 1 for every 20 claims",
        aliases={"akka/TurnFaithfulness": {"on_empty": 1.0}},
    ),
)
