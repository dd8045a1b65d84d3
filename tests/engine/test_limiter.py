"""Turns at a model: their order, how many at one time, how fast."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import anyio
import pytest

from genkit_eval import ConfigError, ModelError
from genkit_eval.engine.asking.limiter import Limiter
from genkit_eval.engine.asking.model_limits import ModelLimits, limits_for, model_limits_from, model_limits_json
from genkit_eval.engine.asking.pace import Pace
from tests.engine.rate_limited import (
    Bucket,
    Busy,
    Closed,
    Policy,
    SlidingWindow,
    Unlucky,
    Window,
    asked,
    in_no_time,
)

ALLOWED = 100
"""Requests a second."""


class Gate:
    """Calls that end when they are let."""

    def __init__(self, limiter: Limiter) -> None:
        self.limiter = limiter
        self.begun: list[int] = []
        self.ends = [anyio.Event() for _ in range(20)]

    async def call(self, number: int, *, succeeds: bool = True) -> None:
        async with self.limiter.slot() as slot:
            self.begun.append(number)
            await self.ends[number].wait()
            if succeeds:
                slot.succeeded()
            else:
                slot.overloaded()


async def tried(limits: ModelLimits) -> Limiter:
    """A limiter whose first call went well."""
    limiter = Limiter(limits)
    async with limiter.slot() as slot:
        slot.succeeded()
    return limiter


@pytest.mark.anyio
async def test_turns_come_in_the_order_in_which_they_were_asked_for() -> None:
    gate = Gate(await tried(ModelLimits(concurrency=1, most_concurrency=1)))

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(gate.call, number)
            await anyio.wait_all_tasks_blocked()
        for end in gate.ends:
            end.set()

    assert gate.begun == [0, 1, 2, 3, 4]


@pytest.mark.anyio
async def test_who_is_cancelled_while_waiting_leaves_the_turn_to_the_next() -> None:
    gate = Gate(await tried(ModelLimits(concurrency=1, most_concurrency=1)))

    async with anyio.create_task_group() as group:
        group.start_soon(gate.call, 0)
        await anyio.wait_all_tasks_blocked()
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as inner:
                inner.start_soon(gate.call, 1)
                await anyio.wait_all_tasks_blocked()
                group.start_soon(gate.call, 2)
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
        for end in gate.ends:
            end.set()

    assert gate.begun == [0, 2]


@pytest.mark.anyio
async def test_until_one_call_has_ended_few_are_out() -> None:
    gate = Gate(Limiter(ModelLimits(concurrency=16)))

    async with anyio.create_task_group() as group:
        for number in range(16):
            group.start_soon(gate.call, number)
        await anyio.wait_all_tasks_blocked()
        first = len(gate.begun)
        gate.ends[gate.begun[0]].set()
        await anyio.wait_all_tasks_blocked()
        then = len(gate.begun)
        for end in gate.ends:
            end.set()

    assert (first, then) == (4, 16)


def test_a_first_call_that_takes_long_does_not_hold_up_the_others() -> None:
    assert asked(Unlucky(0), 32, latency=60).seconds == pytest.approx(61)


@pytest.mark.anyio
async def test_a_window_of_successes_makes_room_for_one_more_when_more_are_wanted() -> None:
    gate = Gate(await tried(ModelLimits(concurrency=2)))

    async with anyio.create_task_group() as group:
        for number in range(6):
            group.start_soon(gate.call, number)
        await anyio.wait_all_tasks_blocked()
        for number in tuple(gate.begun):
            gate.ends[number].set()
        await anyio.wait_all_tasks_blocked()
        grown = gate.limiter.concurrency
        for end in gate.ends:
            end.set()

    assert grown == 3


def test_room_grows_in_larger_steps_until_the_server_says_that_it_is_too_much() -> None:
    grown = asked(Unlucky(0), 32 * 5, at_once=64, limits=ModelLimits(concurrency=32), latency=1.0).room

    assert 32 + 3 * 4 <= grown <= 32 + 5 * 4


def test_where_no_more_are_wanted_no_room_is_made() -> None:
    assert asked(Unlucky(0), 500, at_once=8, limits=ModelLimits(concurrency=8)).room == 8


@pytest.mark.anyio
async def test_refusals_of_one_round_trip_shrink_it_once() -> None:
    limiter = await tried(ModelLimits(concurrency=16))
    gate = Gate(limiter)

    async with anyio.create_task_group() as group:
        for number in range(16):
            group.start_soon(lambda number=number: gate.call(number, succeeds=False))
        await anyio.wait_all_tasks_blocked()
        for end in gate.ends:
            end.set()

    assert 12 <= limiter.concurrency < 16


@pytest.mark.parametrize(
    "server",
    [
        lambda: Bucket(ALLOWED, ALLOWED),
        lambda: Bucket(ALLOWED, 20),
        lambda: Bucket(ALLOWED, 10),
        lambda: Window(ALLOWED, 1.0),
        lambda: Window(ALLOWED, 1.0, into=0.7),
        lambda: SlidingWindow(ALLOWED, 1.0),
    ],
    ids=["bucket of 100", "bucket of 20", "bucket of 10", "by the second", "by the second, late", "sliding"],
)
@pytest.mark.parametrize("refusal", [0.02, 0.1], ids=["quick refusals", "slow refusals"])
def test_what_a_server_allows_is_used_and_little_more_is_asked(server: Callable[[], Policy], refusal: float) -> None:
    calls = 3_000

    went = asked(server(), calls, refusal=refusal)

    # which task runs first is left to chance: a window's first seconds differ
    assert calls / went.seconds >= 0.85 * ALLOWED
    assert went.requests <= 1.12 * calls
    assert went.rate == pytest.approx(ALLOWED, rel=0.25)


def test_a_server_that_is_closed_for_a_minute_is_asked_now_and_then() -> None:
    went = asked(Closed(60), 1_000)

    assert went.requests <= 1_000 + 32 + 10
    assert went.seconds < 80


@pytest.mark.parametrize(("most", "latency"), [(8, 0.1), (20, 0.1), (8, 1.0), (20, 1.0)])
def test_as_many_as_a_server_answers_at_one_time_are_asked(most: int, latency: float) -> None:
    calls = 500

    went = asked(Busy(most), calls, latency=latency, rounded=False)

    assert went.seconds <= 1.6 * calls * latency / most + 2
    assert went.requests <= 1.3 * calls


def test_refusals_that_come_late_are_learned_from_too() -> None:
    went = asked(Bucket(20, 10), 1_200, at_once=200, latency=3.0, refusal=3.0)

    # each wave of them comes when as many again are out
    assert went.seconds <= 1.7 * 1_200 / 20
    assert went.rate <= 5 * 20


def test_refusals_that_have_nothing_to_do_with_the_rate_do_not_bring_it_down() -> None:
    went = asked(Unlucky(0.04), 2_000)

    assert went.seconds <= 3 * 2_000 * 0.1 / 32
    assert went.requests == pytest.approx(2_000 / 0.96, rel=0.02)


def test_requests_a_minute_are_evenly_spread() -> None:
    went = asked(Bucket(1, 1), 30, limits=ModelLimits(requests_per_minute=60), refusal=0)

    assert went.requests == 30
    assert went.seconds == pytest.approx(29.1)


def test_tokens_a_minute_count_what_was_used_not_what_was_expected() -> None:
    async def ask() -> float:
        limiter = Limiter(ModelLimits(tokens_per_minute=6_000), now=anyio.current_time)
        began = anyio.current_time()
        for _ in range(3):
            async with limiter.slot(tokens=100) as slot:
                slot.succeeded(tokens=300)
        return anyio.current_time() - began

    assert in_no_time(ask) == pytest.approx(6.0)


def test_only_waiting_is_told() -> None:
    async def ask() -> list[float]:
        told: list[float] = []

        @contextmanager
        def waiting() -> Iterator[None]:
            began = anyio.current_time()
            yield
            told.append(anyio.current_time() - began)

        limiter = Limiter(ModelLimits(requests_per_minute=30), now=anyio.current_time)
        for _ in range(3):
            async with limiter.slot(waiting=waiting):
                await anyio.sleep(0.5)
        return told

    assert in_no_time(ask) == pytest.approx([1.5, 1.5])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("kind", "good_before", "asked_on"), [("auth", False, False), ("auth", True, True), ("quota", True, False)]
)
async def test_what_holds_for_all_ends_all(kind: str, good_before: bool, asked_on: bool) -> None:
    limiter = await tried(ModelLimits()) if good_before else Limiter(ModelLimits())
    refused = ModelError("no", kind=kind, status=401)

    async with limiter.slot() as slot:
        slot.hopeless(refused)

    if asked_on:
        async with limiter.slot():
            return
    with pytest.raises(ModelError, match=r"not asked any more.*: no") as caught:
        async with limiter.slot():
            pass
    assert (caught.value.kind, caught.value.status) == (kind, 401)


@pytest.mark.anyio
async def test_who_waits_is_told_at_once_that_nothing_is_asked_any_more() -> None:
    limiter = await tried(ModelLimits(concurrency=1, most_concurrency=1))
    told: list[str] = []

    async def wait() -> None:
        try:
            async with limiter.slot():
                pass
        except KeyError:
            told.append("turn")

    async def pause() -> None:
        await limiter.pause(3_600)
        told.append("pause")

    async with limiter.slot(), anyio.create_task_group() as group:
        for task in (wait, wait, pause):
            group.start_soon(task)
        await anyio.wait_all_tasks_blocked()
        limiter.stop(KeyError)

    assert sorted(told) == ["pause", "turn", "turn"]


@pytest.mark.anyio
@pytest.mark.parametrize(("times", "asked_on"), [(2, True), (3, False)])
async def test_what_is_forbidden_may_be_so_for_what_it_asks(times: int, asked_on: bool) -> None:
    limiter = Limiter(ModelLimits())
    asked = 0

    with suppress(ModelError):
        for _ in range(times):
            async with limiter.slot() as slot:
                slot.hopeless(ModelError("no", kind="auth", status=403))
        async with limiter.slot():
            asked += 1

    assert asked == asked_on


def test_loops_of_several_threads_share_the_turns() -> None:
    limiter = Limiter(ModelLimits(concurrency=1, most_concurrency=1))
    out, most = 0, 0

    async def ask() -> None:
        nonlocal out, most
        for _ in range(50):
            async with limiter.slot() as slot:
                out += 1
                most = max(most, out)
                await anyio.sleep(0)
                out -= 1
                slot.succeeded()

    threads = [threading.Thread(target=anyio.run, args=(ask,), daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)

    assert not any(thread.is_alive() for thread in threads)
    assert most == 1


@pytest.mark.parametrize(
    "given",
    [{"concurrency": 0}, {"most_concurrency": None}, {"requests_per_minute": 0}, {"tokens_per_minute": math.nan}],
)
def test_limits_of_a_model_that_cannot_be(given: dict[str, float]) -> None:
    (name,) = given

    with pytest.raises(ConfigError, match=f"{name} of a model is .*: expected"):
        ModelLimits(**given)


def test_a_model_has_its_own_limits_or_its_providers_or_those_of_all() -> None:
    own, of_provider = ModelLimits(concurrency=1), ModelLimits(concurrency=2)
    models = {"a/x": own, "a": of_provider}

    found = [limits_for(name, models, samples=9).concurrency for name in ("a/x", "a/y", "b/x")]

    assert found == [1, 2, 9]
    assert limits_for("b/x", of_provider, samples=9) == of_provider
    assert limits_for("b/x", {**models, "*": ModelLimits(concurrency=3)}, samples=9).concurrency == 3


@pytest.mark.parametrize(
    "models",
    [
        ModelLimits(),
        ModelLimits(concurrency=3, most_concurrency=4, requests_per_minute=60, tokens_per_minute=1.5),
        {"a/x": ModelLimits(requests_per_minute=60), "b": ModelLimits(concurrency=2)},
    ],
)
def test_limits_of_models_are_read_as_they_were_written(models: ModelLimits) -> None:
    assert model_limits_from(model_limits_json(models)) == models


def test_a_few_slow_refusals_at_the_very_beginning_do_not_make_a_run_slow() -> None:
    pace = Pace()
    for number in [pace.send(0.0) for _ in range(3)]:
        pace.refused(number, 1.7, latency=1.7, wait=0.05)
    probed = 1.7 + pace.delay(1.7)
    pace.send(probed)

    reopened = probed + pace.delay(probed)
    pause = pace.delay(reopened)

    assert reopened - probed <= 1
    assert pause <= 0.1
