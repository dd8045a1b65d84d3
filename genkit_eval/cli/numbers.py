"""Numbers as options take them: what is none, or too small, is refused in words."""

from __future__ import annotations

import math
from collections.abc import Callable

import click

__all__ = ["amount", "whole_number"]


def whole_number(least: int) -> Callable[[object], int]:
    """Reads a whole number from `least` up.

    Raises:
        BadParameter: when it reads something else.
    """

    def read(value: object) -> int:
        try:
            number = int(str(value))
        except ValueError:
            number = least - 1
        if number < least:
            raise click.BadParameter(f"'{value}': expected a whole number from {least} up")
        return number

    return read


def amount(expected: str, *, above_zero: bool = False) -> Callable[[object], float]:
    """Reads a number from 0 up, or above 0.

    Raises:
        BadParameter: when it reads something else.
    """

    def read(value: object) -> float:
        try:
            number = float(str(value))
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf or (above_zero and number == 0):
            raise click.BadParameter(f"'{value}': expected {expected}")
        return number

    return read
