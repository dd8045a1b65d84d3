"""Tells the caller how far a run is."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic

from genkit_eval.engine.asking.brake import Brake
from genkit_eval.engine.asking.usage import Totals
from genkit_eval.engine.ledger import Ledger
from genkit_eval.engine.repeats import repeats_of
from genkit_eval.engine.run import Progress

__all__ = ["Meter", "OnProgress"]

OnProgress = Callable[[Progress], None]

log = logging.getLogger("genkit_eval")


class Meter:
    """Looks at a run's books when it is asked to tell."""

    def __init__(self, ledger: Ledger, total: int, brake: Brake, totals: Totals, progress: OnProgress | None) -> None:
        self._ledger, self._total, self._progress = ledger, total, progress
        self._brake, self._totals = brake, totals
        self._started = monotonic()
        self._resumed = 0

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return monotonic() - self._started

    def begin(self, notices: tuple[str, ...]) -> None:
        """Tell for the first time; what is done already was done before."""
        self._resumed = self._ledger.done
        self.tell(notices)

    def tell_stopped(self) -> None:
        """Where nobody shows progress, say in the log that the run can be gone on with."""
        if self._progress is None:
            run_id, done = self._ledger.journal.key.eval_run_id, self._ledger.done
            why = "" if self._brake.stopped is None else f" ({self._brake.stopped.reason})"
            log.warning("run %s stopped after %d of %d cases%s; resume it by this id", run_id, done, self._total, why)

    def tell(self, notices: tuple[str, ...] = ()) -> None:
        """Tell how far it is."""
        if self._progress is None:
            for notice in notices:
                log.warning("%s", notice)
            return
        passed, judged = self._ledger.tally.verdicts()
        stopped = self._brake.stopped
        self._progress(
            Progress(
                run_id=self._ledger.journal.key.eval_run_id,
                done=self._ledger.done,
                total=self._total,
                target_errors=self._ledger.tally.target_errors,
                passed=passed,
                judged=judged,
                seconds=self.seconds,
                resumed=self._resumed,
                notices=notices,
                repeats=repeats_of(self._ledger.journal.key).target,
                cost_usd=self._totals.cost_usd,
                stopping=None if stopped is None else stopped.reason,
            )
        )
