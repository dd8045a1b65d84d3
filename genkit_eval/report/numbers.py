"""Numbers as people read them, never rounded into another statement."""

from __future__ import annotations

import math

__all__ = ["counted", "dollars", "duration", "number", "percent", "storage"]


def counted(count: int, noun: str) -> str:
    """So many of something: "1 case", "2 cases"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def percent(part: int, whole: int) -> str:
    """A share of a whole that is not 0, in percent: "100 %" is said only of all, "0 %" only of none."""
    if part == whole:
        return "100 %"
    if part == 0:
        return "0 %"
    for digits in range(1, 15):
        text = f"{100 * part / whole:.{digits}f}"
        if text.strip("0.") and not text.startswith("100."):
            return f"{text.removesuffix('.0')} %"
    raise AssertionError("no run has that many cases")


def number(value: float) -> str:
    """A number with four digits, with more where fewer would make a whole number of it that it is not."""
    for digits in range(4, 17):
        text = f"{value:.{digits}g}"
        if "e" in text and abs(value) >= 1e4:
            text = f"{value:.6g}" if abs(value) >= 1e15 else f"{value:.0f}"
        if float(text) == value or not float(text).is_integer() or abs(value) >= 1e4:
            return text
    return repr(value)


def dollars(amount: float) -> str:
    """An amount of US dollars: in cents, with two digits that count where it is less than that."""
    if amount == 0 or amount >= 0.1:
        return f"{amount:.2f}"
    return f"{amount:.{1 - math.floor(math.log10(amount))}f}"


def duration(seconds: float) -> str:
    """A time span in the two units that matter: "32 ms", "0.4 s", "12 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 0.0995:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def storage(size_bytes: int) -> str:
    """How much room something takes: "812 bytes", "1.5 kB", "12 MB"."""
    size = float(size_bytes)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
