"""Calls that are sent again: which, when, how often, and what is said of it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from genkit_eval import ConfigError, DataPoint, GenkitEval, Judge, Limits, Message, ModelError, Reply, run_sync
from genkit_eval.engine.asking.limiter import Limiter
from genkit_eval.engine.asking.model_limits import ModelLimits
from genkit_eval.engine.asking.retry import Retrier, Tries
from genkit_eval.engine.resume import limits_of
from genkit_eval.errors import ModelErrorKind
from genkit_eval.stored import EvalRunKey
from genkit_eval.testing import ScriptedModel
from tests.engine.rate_limited import in_no_time

Outcome = ModelError | str | float


def told(kind: ModelErrorKind, status: int | None = None, wait: float | None = None) -> ModelError:
    return ModelError(f"it said {kind}", kind=kind, status=status, retry_after_seconds=wait)


class Went:
    """One call after another: when each attempt was made, what came of it, and how long all took."""

    def __init__(self, outcomes: Sequence[Outcome], limits: Limits) -> None:
        self.moments: list[float] = []
        self.tries = Tries()
        self.reply: str | None = None
        self.error: ModelError | None = None
        self._outcomes, self._limits = itertools.chain(outcomes, itertools.repeat(outcomes[-1])), limits
        in_no_time(self._run)

    async def _run(self) -> None:
        began = anyio.current_time()
        limiter = Limiter(ModelLimits(concurrency=32), now=anyio.current_time)
        retrier = Retrier("a/x", self._limits, limiter)

        async def ask() -> str:
            self.moments.append(anyio.current_time() - began)
            outcome = next(self._outcomes)
            await anyio.sleep(outcome if isinstance(outcome, float) else 0.1)
            if isinstance(outcome, ModelError):
                raise outcome
            return str(outcome)

        try:
            self.reply = await retrier.call(ask, tries=self.tries, used=len)
        except ModelError as error:
            self.error = error
        self.seconds, self.room = anyio.current_time() - began, limiter.concurrency


def went(*outcomes: Outcome, limits: Limits | None = None) -> Went:
    return Went(outcomes, limits or Limits())


@pytest.mark.parametrize("error", [told("rate_limit", 429), told("timeout"), told("connection"), told("server", 500)])
def test_what_may_pass_is_sent_again(error: ModelError) -> None:
    call = went(error, error, "yes")

    assert (call.reply, len(call.moments), call.tries.errors) == ("yes", 3, [error, error])


@pytest.mark.parametrize(
    "kind", ["auth", "quota", "content_filter", "bad_request", "window", "refused", "length", "unparsable", "empty"]
)
def test_what_will_be_the_same_the_next_time_is_not(kind: ModelErrorKind) -> None:
    error = told(kind)

    call = went(error, "yes")

    assert (call.error, len(call.moments)) == (error, 1)


def test_an_answer_that_cannot_be_read_is_not_asked_for_again() -> None:
    call = went(told("server", 200), "yes")

    assert (call.reply, len(call.moments)) == (None, 1)


@pytest.mark.case("api-fault/retry-after-seconds")
def test_who_is_told_how_long_to_wait_waits_at_least_so_long() -> None:
    call = went(told("rate_limit", 429, wait=3), "yes")

    assert call.reply == "yes"
    assert len(call.moments) == 2
    assert 3 <= call.moments[1] - call.moments[0] <= 3.5


@pytest.mark.case("api-fault/retry-after-a-day")
def test_a_wait_of_a_day_is_not_waited_for() -> None:
    call = went(told("rate_limit", 429, wait=86_400))

    assert len(call.moments) == 1
    assert call.seconds < 1
    assert call.error is not None
    assert call.error.retry_after_seconds == 86_400


@pytest.mark.case("api-fault/retry-after-a-day")
def test_who_is_to_wait_for_a_day_says_so_for_all(tmp_path: Path) -> None:
    day = ModelError("the quota of today is used up", kind="rate_limit", status=429, retry_after_seconds=86_400)
    yes = Reply(text="yes", finish_reason="stop")
    judge = ScriptedModel([yes, *[day] * 60], name="house/judge")
    ge = GenkitEval(root=tmp_path)

    @ge.define_evaluator("t/judge")
    async def asks(point: DataPoint) -> bool:
        await Judge(judge).choose([Message(role="user", content=str(point.output))], ["yes", "no"])
        return True

    samples = [{"input": str(n), "output": str(n)} for n in range(60)]
    run = run_sync(ge.evaluate(samples, target=None, evaluators=["t/judge"], limits=Limits(8)))

    (summary,) = run.summary()
    assert (summary.verdict, summary.failed) == (1, 59)
    assert len(judge.calls) <= 9
    assert all("the quota of today" in str(result.metrics[0].error) for result in run.failing())


def test_the_pauses_grow_and_differ() -> None:
    calls = [went(told("server", 500), limits=Limits(retries=4)) for _ in range(20)]

    gaps = [[late - early - 0.1 for early, late in itertools.pairwise(call.moments)] for call in calls]
    bounds = [0.5, 1, 2, 4]
    assert all(-1e-9 <= gap <= bound + 0.1 for each in gaps for gap, bound in zip(each, bounds, strict=True))
    assert len({round(each[0], 6) for each in gaps}) > 10
    assert max(each[3] for each in gaps) > 1


def test_a_fault_is_sent_again_so_many_times() -> None:
    call = went(told("connection"), limits=Limits(retries=2))

    assert len(call.moments) == 3


def test_a_server_that_says_too_many_is_asked_for_as_long_as_there_is_time() -> None:
    call = went(told("rate_limit", 429, wait=1), limits=Limits(retries=0, retry_seconds=20))

    assert 5 < len(call.moments) < 20
    assert call.seconds <= 20.2


def test_no_time_for_another_attempt_is_no_other_attempt() -> None:
    call = went(told("rate_limit", 429, wait=10), limits=Limits(retry_seconds=9))

    assert len(call.moments) == 1
    assert call.seconds < 1


def test_what_was_tried_stands_in_the_error() -> None:
    call = went(told("rate_limit", 429, wait=1), told("connection"), told("server", 503), limits=Limits(retries=2))

    assert call.error is not None
    assert (call.error.kind, call.error.status) == ("server", 503)
    assert str(call.error).startswith("it said server (tried 4 times in ")
    assert str(call.error).endswith(" s: 1 x HTTP 429, 1 x connection, 2 x HTTP 503)")


@pytest.mark.case("api-fault/total-time-bound")
def test_one_attempt_has_a_deadline_and_so_have_all_of_them() -> None:
    call = went(60.0, limits=Limits(call_seconds=2, retries=2))

    assert len(call.moments) == 3
    assert call.seconds <= 3 * 2 + 0.5 + 1 + 1e-6
    assert str(call.error).startswith("a/x gave no answer within 2 s (call_seconds) (tried 3 times")


def test_what_is_no_error_of_a_model_is_not_caught() -> None:
    async def ask() -> str:
        raise KeyError("user's own")

    async def run() -> None:
        retrier = Retrier("a/x", Limits(), Limiter(ModelLimits(), now=anyio.current_time))
        await retrier.call(ask, tries=Tries(), used=len)

    with pytest.raises(KeyError):
        in_no_time(run)


@pytest.mark.parametrize(
    ("error", "learned"),
    [
        (told("rate_limit", 429), True),
        (told("server", 503), True),
        (told("server", 529), True),
        (told("server", 500), False),
        (told("connection"), False),
        (told("timeout"), False),
    ],
)
def test_only_what_says_that_there_are_too_many_slows_down_the_others(error: ModelError, learned: bool) -> None:
    call = went(*[error] * 6, "yes", limits=Limits(retries=9))

    assert call.reply == "yes"
    assert (call.room < 32) == learned


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(models=ModelLimits(requests_per_minute=60), call_seconds=5, retries=0),
        Limits(models={"a/x": ModelLimits(concurrency=2)}, retry_seconds=1, retry_after_most_seconds=2),
    ],
)
def test_a_run_goes_on_with_the_limits_that_it_began_with(limits: Limits) -> None:
    key = EvalRunKey.model_validate({"evalRunId": "r", "createdAt": "2026-01-01T00:00:00Z", "limits": limits.to_json()})

    assert limits_of(key) == limits


@pytest.mark.parametrize("given", [{"retries": -1}, {"retries": 1.5}, {"retry_seconds": -1}, {"call_seconds": 0}])
def test_limits_of_retrying_that_cannot_be(given: dict[str, float]) -> None:
    (name,) = given

    with pytest.raises(ConfigError, match=f"{name} is .*: expected"):
        Limits(**given)  # type: ignore[arg-type]  # that is what is tested
