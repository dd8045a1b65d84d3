"""How far a run is, on stderr: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self

from genkit_eval.cli.output import animated, columns, tell
from genkit_eval.engine import Progress
from genkit_eval.report.numbers import counted, dollars, duration, percent

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["ProgressLine", "progress_text"]

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_FRAMES = 0.1


def progress_text(now: Progress) -> str:
    """Cases, rate, time left and pass rate, in a line."""
    rate = (now.done - now.resumed) / now.seconds if now.seconds > 0 else 0.0
    took = f" in {duration(now.seconds)}" if now.done >= now.total else ""
    parts = [f"{now.done} of {_amount(now)}{took}"]
    if rate > 0 and not took:
        parts.append(f"{rate:.3g}/s")
        if now.stopping is None:
            parts.append(f"{duration((now.total - now.done) / rate)} left")
    if now.judged:
        parts.append(f"{percent(now.passed, now.judged)} PASS of {now.judged}")
    if now.target_errors:
        parts.append(f"{now.target_errors} FAILED in the target")
    if now.cost_usd:
        parts.append(f"{dollars(now.cost_usd)} US $")
    return ", ".join(parts)


def _amount(now: Progress) -> str:
    return counted(now.total, "case" if now.repeats == 1 else "result")


class ProgressLine:
    """Takes the progress of a run; `run_id` is there from its first moment on."""

    def __init__(self) -> None:
        self.run_id: str | None = None
        self.last: Progress | None = None
        self._shown = 0.0
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()
        # of a run that was stopped, the stores know better how many cases are kept
        if self.last is not None and error is None:
            tell(progress_text(self.last))

    def __call__(self, now: Progress) -> None:
        """Show it, if it is time."""
        if self.run_id is None:
            self._begin(now)
        if now.stopping is not None and (self.last is None or self.last.stopping is None):
            tell(f"stopping: {now.stopping}; what is under way ends")
        self.last = now
        pause = SECONDS_BETWEEN_LINES if self._bar is None else SECONDS_BETWEEN_FRAMES
        if monotonic() - self._shown < pause:
            return
        self._shown = monotonic()
        if self._bar is None:
            tell(progress_text(now))
        else:
            self._draw(self._bar, now)

    def _begin(self, now: Progress) -> None:
        self.run_id = now.run_id
        for notice in now.notices:
            tell(f"note: {notice}")
        after = f", {now.resumed} of them done before" if now.resumed else ""
        tell(f"{now.run_id}: {_amount(now)}{after}")
        self._shown = monotonic()
        if animated(sys.stderr):
            self._bar = _bar(now)
            self._bar.start()

    def _draw(self, bar: Bar, now: Progress) -> None:
        bar.update(bar.task_ids[0], completed=now.done, text=progress_text(now))
        bar.refresh()

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _bar(now: Progress) -> Bar:
    # rich takes 0.1 s to import, and only terminals need it
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    text = TextColumn("{task.fields[text]}", markup=False)
    shown = (BarColumn(bar_width=20), text) if columns() >= 72 else (text,)
    # no thread of its own: it is drawn when the run tells how far it is, and gone at the end
    bar = Bar(*shown, console=Console(stderr=True), auto_refresh=False, transient=True)
    bar.add_task("", total=now.total, completed=now.done, text=progress_text(now))
    return bar
