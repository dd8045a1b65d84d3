"""Ctrl-C, pressed more than once."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any

import pytest

from genkit_eval import GenkitEval, Limits, RunState, run_sync
from genkit_eval.engine.interrupts import one_interrupt

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")


@pytest.mark.case("run/ctrl-c-saves-partial")
def test_a_second_ctrl_c_does_not_break_into_the_stopping(ge: GenkitEval) -> None:
    before = signal.getsignal(signal.SIGINT)
    stopped = []

    async def flow(x: int) -> int:
        if x < 3:
            return x
        try:
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(30)
        finally:
            signal.raise_signal(signal.SIGINT)
            stopped.append(x)
        return x

    ge.define_flow("f", flow)

    with pytest.raises(KeyboardInterrupt):
        run_sync(ge.evaluate([{"input": i} for i in range(9)], target="f", evaluators=[], limits=Limits(1)))

    assert stopped == [3]
    assert signal.getsignal(signal.SIGINT) is before
    (key,) = ge.runs.list()
    assert key.state is RunState.INCOMPLETE
    assert len(ge.runs.load(key.eval_run_id).results) == 3


def test_runs_side_by_side_leave_the_handler_as_it_was(ge: GenkitEval) -> None:
    async def flow(x: int) -> int:
        await asyncio.sleep(0)
        return x

    ge.define_flow("f", flow)
    handlers = []

    async def both() -> None:
        handlers.append(signal.getsignal(signal.SIGINT))
        samples = [[{"input": i} for i in range(count)] for count in (1, 50)]
        await asyncio.gather(*(ge.evaluate(one, target="f", evaluators=[]) for one in samples))
        handlers.append(signal.getsignal(signal.SIGINT))

    run_sync(both())

    assert handlers[0] is handlers[1]


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.default_int_handler])
def test_where_nobody_cancels_nothing_is_changed(handler: Any) -> None:
    before = signal.signal(signal.SIGINT, handler)
    try:
        with one_interrupt():
            assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
