"""Statements and verdicts: the recipe that faithfulness and its relatives share.

A text is taken apart into statements; each statement gets a verdict from evidence; the share of those that hold is
the score. The denominator is the statements that were sent, never what the judge chose to answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from operator import attrgetter
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, create_model

from genkit_eval.answers import Scale, Verdict
from genkit_eval.errors import JudgeError
from genkit_eval.judge import Judge
from genkit_eval.models import Message
from genkit_eval.prompts import Prompt, fenced, fenced_in

__all__ = [
    "GROUP_SIZE",
    "ClaimVerdict",
    "Numbered",
    "by_number",
    "in_parts",
    "numbered",
    "share",
    "statements",
    "verdicts",
]

GROUP_SIZE = 20
"""So many verdicts fit into a reply of some 1,500 tokens."""


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """Whether the evidence bears a statement out, and why.

    `parts` is in how many parts the evidence was read: more than one if it is longer than what the judge can read.
    """

    statement: str
    verdict: bool
    reason: str
    parts: int = 1


# built when first used: building them at import would cost every program 20 ms


class _Statements(BaseModel, defer_build=True):
    statements: list[str]


class Numbered(BaseModel, defer_build=True):
    """What a judge says of one of several things, by its number; the reason comes before whatever else is said."""

    number: int
    reason: str


class _Verdict(Numbered, defer_build=True):
    verdict: Verdict


N = TypeVar("N", bound=Numbered)
R = TypeVar("R")


async def statements(judge: Judge, prompt: Prompt, values: Mapping[str, str]) -> list[str]:
    """The statements that a judge finds in a text; none is an answer too.

    Args:
        prompt: asks for `{"statements": [text, …]}`.
        values: what goes into the prompt; each is put between marks of its own here.

    Raises:
        JudgeError: the judge gave no list of texts.
    """
    messages = prompt.render({name: fenced(value) for name, value in values.items()})
    # of a text alone: what images show is no claim of it
    answer = await (replace(judge, images=()) if judge.images else judge).ask(messages, _Statements)
    return [line for line in (" ".join(text.split()) for text in answer.statements) if line]


async def verdicts(
    judge: Judge,
    prompt: Prompt,
    statements: Sequence[str],
    evidence: str | Sequence[str],
    *,
    group_size: int = GROUP_SIZE,
    marked: Collection[str] = (),
) -> list[ClaimVerdict]:
    """One verdict for every statement, in their order.

    The statements go out numbered from 1, in groups so that no reply gets too long; answers are matched by number,
    and numbers without one are asked for once more.

    Args:
        prompt: has places for `statements` and `evidence`, and asks for
            `{"verdicts": [{"number": 1, "reason": text, "verdict": true or false}, …]}`.
        evidence: a text, or documents. Where these and the statements are more than the judge can read at once, the
            longer of the two are split, and again. Of split documents a statement holds if one part bears it out, so
            that what needs two documents at once may not.
        marked: which of them ("statements", "evidence") have marks around all that is untrusted already; these get no
            further ones, as a request with marks inside of marks is not known again.

    Raises:
        JudgeError: a statement has no verdict even so, or two that differ.
    """
    documents = [evidence] if isinstance(evidence, str) else list(evidence)
    found: list[ClaimVerdict] = []
    for start in range(0, len(statements), group_size):
        found += await in_parts(
            statements[start : start + group_size],
            documents,
            partial(_complete, judge, prompt, marked),
            settled=attrgetter("verdict"),
            of_two=_of_two,
        )
    return found


def numbered(lines: Sequence[str]) -> str:
    """The lines with numbers from 1."""
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


async def by_number(
    judge: Judge,
    lines: Sequence[str],
    messages: Callable[[Sequence[str]], Sequence[Message]],
    *,
    name: str,
    form: type[N],
) -> list[N]:
    """What a judge says of each line, in their order; lines that it left out are asked about once more.

    Args:
        messages: what asks about some of the lines, which it numbers from 1.
        name: what the list is called in the reply: `{name: [{"number": 1, …}, …]}`.
        form: of what is said of one line.

    Raises:
        JudgeError: of a line nothing is said even so, or two things that differ; or the reply is of another form.
    """
    found: dict[int, N] = {}
    for _ in range(2):
        missing = [place for place in range(len(lines)) if place not in found]
        if missing:
            asked = messages([lines[place] for place in missing])
            said = getattr(await judge.ask(asked, _list_of(name, form, len(missing))), name)
            found |= {missing[place]: answer for place, answer in _undisputed(said).items()}
    missing = [place for place in range(len(lines)) if place not in found]
    if missing:
        first = lines[missing[0]]
        raise JudgeError(
            f"no verdict for {len(missing)} of {len(lines)} statements, though asked twice: none was given, or several "
            f"that differ; the first of them: {(fenced_in(first) or first)[:200]!r}",
            kind="unparsable",
            model=judge.name,
        )
    return [found[place] for place in range(len(lines))]


# making a model takes about a millisecond, and no group has more than some 20 things
@lru_cache(maxsize=128)
def _list_of(name: str, form: type[Numbered], count: int) -> type[BaseModel]:
    # who counts otherwise (from 0, say) may mean another line by every number
    number: Any = Annotated[int, Scale(1, count)]
    one: Any = create_model(form.__name__.lstrip("_"), __base__=form, number=(number, ...))
    # for servers that keep to the form; of others, what is left out is asked for once more
    entries = Field(json_schema_extra={"minItems": count, "maxItems": count})
    fields: Any = {name: (Annotated[list[one], entries], ...)}
    return create_model(name.title(), **fields)


def share(verdicts: Sequence[ClaimVerdict]) -> float:
    """The share of statements that hold, 0 to 1.

    Raises:
        ValueError: there are none: the share is undefined.
    """
    if not verdicts:
        raise ValueError("no statements: their share is undefined")
    return sum(item.verdict for item in verdicts) / len(verdicts)


async def in_parts(
    group: Sequence[str],
    documents: Sequence[str],
    ask: Callable[[Sequence[str], Sequence[str]], Awaitable[list[R]]],
    *,
    settled: Callable[[R], bool],
    of_two: Callable[[R, R], R],
) -> list[R]:
    """What a judge says of each of a group by documents; where these are more than it can read, they are split.

    The longer of the two are halved, and again. Things that one half of the documents does not settle are asked about
    by the other half too.

    Args:
        ask: asks about some of the group, by some of the documents.
        settled: whether further documents cannot change what was said.
        of_two: what is said of a thing by two parts of the documents.

    Raises:
        JudgeError: a single thing, by a single document, is too long; or whatever `ask` raises.
    """
    try:
        return await ask(group, documents)
    except JudgeError as problem:
        if problem.kind != "window" or max(len(documents), len(group)) < 2:
            raise

    async def again(things: Sequence[str], part: Sequence[str]) -> list[R]:
        return await in_parts(things, part, ask, settled=settled, of_two=of_two)

    if len(documents) < 2 or (len(group) > 1 and sum(map(len, group)) > sum(map(len, documents))):
        # what is asked about is the most of it
        half = len(group) // 2
        return await again(group[:half], documents) + await again(group[half:], documents)
    middle = len(documents) // 2
    found = await again(group, documents[:middle])
    open_places = [place for place, item in enumerate(found) if not settled(item)]
    later = await again([group[place] for place in open_places], documents[middle:]) if open_places else []
    for place, item in zip(open_places, later, strict=True):
        found[place] = of_two(found[place], item)
    return found


def _of_two(first: ClaimVerdict, later: ClaimVerdict) -> ClaimVerdict:
    """The verdict of the later of two parts of the documents, where the first did not bear the statement out."""
    reason = later.reason if later.verdict else f"{first.reason} {later.reason}"
    return replace(later, reason=reason, parts=first.parts + later.parts)


async def _complete(
    judge: Judge, prompt: Prompt, marked: Collection[str], group: Sequence[str], documents: Sequence[str]
) -> list[ClaimVerdict]:
    def shown(place: str, text: str) -> str:
        return text if place in marked else fenced(text)

    def messages(lines: Sequence[str]) -> Sequence[Message]:
        evidence = "\n\n".join(documents)
        return prompt.render(
            {"statements": shown("statements", numbered(lines)), "evidence": shown("evidence", evidence)}
        )

    found = await by_number(judge, group, messages, name="verdicts", form=_Verdict)
    return [ClaimVerdict(text, item.verdict, item.reason) for text, item in zip(group, found, strict=True)]


def _undisputed(answers: Sequence[N]) -> dict[int, N]:
    """The answers by place, without those of which there are two that differ."""
    found: dict[int, N] = {}
    disputed = set()
    for item in answers:
        earlier = found.setdefault(item.number - 1, item)
        if earlier is not item and earlier.model_dump(exclude={"reason"}) != item.model_dump(exclude={"reason"}):
            disputed.add(item.number - 1)
    return {place: item for place, item in found.items() if place not in disputed}
