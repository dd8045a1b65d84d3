"""What counts as a number where users give one."""

from __future__ import annotations

from typing import TypeGuard

__all__ = ["is_number"]


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is one; true and false are none, though Python says so."""
    return isinstance(value, int | float) and not isinstance(value, bool)
