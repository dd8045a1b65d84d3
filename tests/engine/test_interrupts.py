"""Ctrl-C, pressed more than once."""

from __future__ import annotations

import asyncio
import signal
import sys

import pytest

from genkit_eval import GenkitEval, Limits, RunState, run_sync

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
