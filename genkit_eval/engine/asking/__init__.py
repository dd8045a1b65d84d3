"""How a run asks models: in turn, again where that helps, within its budget, and nothing twice that is known."""

from __future__ import annotations

__all__: list[str] = []
