"""How servers fail, at a rate: scripts for `OpenAIServer` around one that answers well.

Whether a call fails depends on what it asks for, not on when it comes: at any concurrency the same tasks fail.
"""

from __future__ import annotations

import inspect
import json
import math
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from hashlib import blake2b
from time import monotonic
from typing import Any

from genkit_eval.errors import ConfigError, UnknownName
from genkit_eval.testing.answers import Answer, Call, chat_answer, error_answer
from genkit_eval.testing.forms import task_of

__all__ = ["FAULTS", "MIXED", "Wrapped", "rate_limited", "with_faults"]

Wrapped = Callable[[Call], Answer | Awaitable[Answer]]

STALL_SECONDS = 30.0
SLOW_SECONDS = 1.0


def _text(answer: Answer) -> str:
    completion: Any = json.loads(answer.body) if isinstance(answer.body, bytes) else answer.body
    return str(completion["choices"][0]["message"]["content"])


FAULTS: Mapping[str, Callable[[Answer], Answer]] = {
    "rate_limit": lambda good: error_answer(
        429, "Rate limit reached for requests", code="rate_limit_exceeded", headers={"Retry-After": "1"}
    ),
    "overload": lambda good: error_answer(503, "The server is overloaded"),
    "error": lambda good: error_answer(500, "The server had an error while processing your request"),
    "reset": lambda good: Answer(reset=True),
    "cut": lambda good: replace(good, cut=40),
    "stall": lambda good: replace(good, delay_seconds=STALL_SECONDS),
    "slow": lambda good: replace(good, delay_seconds=SLOW_SECONDS),
    "malformed": lambda good: chat_answer('{"reason": "an answer that ends in the mid'),
    "prose": lambda good: chat_answer("I would say that this is rather good, all in all."),
    "truncated": lambda good: chat_answer(_text(good)[: max(1, len(_text(good)) // 2)], finish_reason="length"),
    "refusal": lambda good: chat_answer(None, refusal="I cannot help with that."),
}
"""What comes in place of a good answer, by the name of the fault.

"stall" answers after 30 s, "slow" after 1 s; "cut" closes the connection within the body; "malformed" and "prose" are
whole answers that are not the JSON asked for; "truncated" ended at the limit of tokens.
"""

MIXED = ("rate_limit", "overload", "error", "reset", "cut", "malformed", "prose", "truncated", "refusal")
"""All that end soon: what a rate for "mixed" is shared out to."""

LASTING = frozenset({"truncated", "refusal"})
"""Those that come again however often the same is asked."""


def with_faults(
    script: Callable[[Call], Answer], faults: Mapping[str, float], *, times: int = 1, seed: int = 0
) -> Wrapped:
    """A script that answers as the given one, but for a share of the tasks with a fault.

    with OpenAIServer(with_faults(in_form, {"rate_limit": 0.05, "stall": 0.02})) as server: …

    Args:
        script: the good answers, like `in_form`.
        faults: share of the tasks, 0 to 1, by the fault's name: one of `FAULTS`, or "mixed" for `MIXED` together.
        times: so many calls for a task fail, and the next one is answered; refusals and truncated answers stay.
        seed: draws other tasks.

    Raises:
        UnknownName: no such fault. ConfigError: a share that is none, or more than 1 in all.
    """
    shares = _shares(faults)
    asked: Counter[bytes] = Counter()

    def answer(call: Call) -> Answer:
        task = blake2b(f"{seed} {task_of(call)}".encode(errors="replace"), digest_size=7).digest()
        name = _drawn(int.from_bytes(task) / 256**7, shares)
        good = script(call)
        if name is None:
            return good
        asked[task] += 1
        return FAULTS[name](good) if name in LASTING or asked[task] <= times else good

    return answer


def _drawn(number: float, shares: Mapping[str, float]) -> str | None:
    for name, share in shares.items():
        number -= share
        if number < 0:
            return name
    return None


def _shares(faults: Mapping[str, float]) -> dict[str, float]:
    shares: dict[str, float] = {}
    for name, share in faults.items():
        if name != "mixed" and name not in FAULTS:
            raise UnknownName("fault", name, [*FAULTS, "mixed"])
        if not 0 <= share <= 1:
            raise ConfigError(f"the share of '{name}' is {share!r}: expected a number from 0 to 1")
        names = MIXED if name == "mixed" else (name,)
        for one in names:
            shares[one] = shares.get(one, 0.0) + share / len(names)
    if sum(shares.values()) > 1 + 1e-9:
        raise ConfigError(f"the faults share out {sum(shares.values()):g} of the tasks: expected 1 at most")
    return shares


def rate_limited(script: Wrapped, per_second: float, *, burst: int | None = None) -> Wrapped:
    """A script that lets so many calls a second through; others get a 429 that says how many whole seconds to wait.

    Args:
        burst: calls that may come at once after a pause; default: a tenth of a second's, at least 1.
    """
    most = burst if burst is not None else max(1, round(per_second / 10))
    tokens, last = float(most), monotonic()
    lock = threading.Lock()

    async def answer(call: Call) -> Answer:
        nonlocal tokens, last
        with lock:
            now = monotonic()
            tokens, last = min(float(most), tokens + (now - last) * per_second), now
            if tokens < 1:
                wait = {"Retry-After": str(math.ceil((1 - tokens) / per_second))}
                return error_answer(429, "Rate limit reached for requests", code="rate_limit_exceeded", headers=wait)
            tokens -= 1
        given = script(call)
        return await given if inspect.isawaitable(given) else given

    return answer
