"""What a run may call for its outputs, and what that reports beside them."""

from __future__ import annotations

__all__: list[str] = []
