"""The command line: one file per verb. Each parses, calls one function, prints."""

from __future__ import annotations

__all__: list[str] = []
