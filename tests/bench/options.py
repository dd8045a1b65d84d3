"""What the command line asks of the benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Options"]


@dataclass(frozen=True, slots=True)
class Options:
    """How much is measured, and where its files may lie."""

    folder: Path
    quick: bool
    million: bool
    install: bool

    def rounds(self, samples: int) -> int:
        """How often an arm with so many samples is run."""
        if self.quick:
            return 2
        return 5 if samples <= 10_000 else 3
