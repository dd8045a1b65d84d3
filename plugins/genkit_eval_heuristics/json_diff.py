"""`heuristic/json_diff`: how much of a JSON answer is that of the reference, with credit for parts.

Both are gone through side by side, so that only what differs is looked at closely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final

from pydantic import Field, JsonValue

from genkit_eval import DataPoint, Finding, Score, json_text
from genkit_eval.text import shown
from genkit_eval_heuristics.definition import Heuristic, verdict
from genkit_eval_heuristics.json_answer import FenceOptions, json_kind, read_json

__all__ = ["EVALUATORS", "DiffOptions", "aggregate", "differences", "json_diff"]

MAX_FINDINGS = 50

Place = tuple[str | int, ...]
Difference = tuple[Place, str, tuple[JsonValue, ...]]
"""A place, what is said of it, and the values named there: only the first few are put into words."""
_MISSING, _EXTRA, _WRONG = "missing: {}", "not in the reference: {}", "{}, expected {}"

_NOTHING: Final = object()
"""What stands at a place that is not there."""
_CONTAINERS = (dict, list)


class DiffOptions(FenceOptions):
    """What of a difference does not count."""

    tolerance: float = Field(default=0.0, ge=0, allow_inf_nan=False, description="How far two numbers may be apart.")
    list_order: bool = Field(default=True, description="Whether the order of lists counts; without it, whole items do.")
    ignore: Sequence[str] = Field(default=(), description="Places left out with all below them, like 'meta.id'.")


def json_diff(point: DataPoint, options: DiffOptions) -> Score:
    """The share of places at which answer and reference hold the same, of all places that either has; 0 to 1.

    A place is the path to a value that is neither object nor list, or to an empty one. 1 equals 1.0 but neither true
    nor "1"; the order of keys is free. Lists are compared item by item in order; with `list_order=false` as sets of
    whole items, each as often as it is there, without tolerance. Text is read as JSON (a reference that is none is that
    text); an answer that is not JSON is 0. Higher is better, and it is symmetric.
    """
    read = read_json(point.output, strip_fences=options.strip_fences)
    if read.problem:
        return verdict(0.0, options, reason=f"not JSON: {read.problem}", details=read.details)
    known = read_json(point.reference, strip_fences=options.strip_fences)
    reference = point.reference if known.problem else known.value
    different, same = differences(read.value, reference, options)
    reason = f"{same} of {same + len(different)} places are the same"
    findings = [_finding(*difference) for difference in different[:MAX_FINDINGS]]
    if findings:
        reason += f"; {findings[0].text}: {findings[0].reason}" + ("; and more" if len(different) > 1 else "")
    return verdict(aggregate(same, len(different)), options, reason=reason, findings=findings, details=read.details)


def differences(answer: JsonValue, reference: JsonValue, options: DiffOptions) -> tuple[list[Difference], int]:
    """What differs, place by place in the order of the reference, and at how many places nothing does."""
    walk = _Walk(options.tolerance, options.list_order, [tuple(name.split(".")) for name in options.ignore])
    walk.compare(answer, reference)
    return [*walk.wrong, *walk.extra], walk.same


def aggregate(same: int, different: int) -> float:
    """The share of the places that are the same; 1 where there is none."""
    return same / (same + different) if same + different else 1.0


@dataclass(slots=True)
class _Walk:
    tolerance: float
    list_order: bool
    ignored: Sequence[tuple[str, ...]]
    same: int = 0
    wrong: list[Difference] = field(default_factory=list)
    extra: list[Difference] = field(default_factory=list)

    def compare(self, answer: JsonValue, reference: JsonValue) -> None:
        """Count the places that are the same, and note those that are not."""
        waiting: list[tuple[Place, Iterator[tuple[str | int, Any, Any]]]] = [((), iter([("", answer, reference)]))]
        while waiting:
            above, pairs = waiting[-1]
            for key, ours, theirs in pairs:
                alike = type(ours) is type(theirs)
                if alike and not self.ignored and not isinstance(ours, _CONTAINERS) and ours == theirs:
                    self.same += 1
                    continue
                # the values themselves stand nowhere
                place = (*above, key) if len(waiting) > 1 else ()
                if self._is_ignored(place):
                    continue
                if alike and isinstance(ours, _CONTAINERS) and ours and theirs:
                    waiting.append((place, self._within(place, ours, theirs)))
                    break
                self._unlike(place, ours, theirs)
            else:
                waiting.pop()

    def _within(self, place: Place, ours: Any, theirs: Any) -> Iterator[tuple[str | int, Any, Any]]:
        """What two objects, or two lists, hold at the same places: first those of the reference."""
        if isinstance(theirs, dict):
            known = [(key, ours.get(key, _NOTHING), item) for key, item in theirs.items()]
            return iter(known + [(key, item, _NOTHING) for key, item in ours.items() if key not in theirs])
        if self.list_order:
            return iter([(i, *pair) for i, pair in enumerate(zip_longest(ours, theirs, fillvalue=_NOTHING))])
        self._as_sets(place, ours, theirs)
        return iter(())

    def _as_sets(self, place: Place, ours: Sequence[JsonValue], theirs: Sequence[JsonValue]) -> None:
        """Whole items of two lists, each as often as it is there, whatever its position."""
        left = Counter(map(_canonical, ours))
        for item in theirs:
            text = _canonical(item)
            if left[text]:
                left[text] -= 1
                self.same += 1
            else:
                self.wrong.append(((*place, "[]"), _MISSING, (item,)))
        for item in reversed(ours):
            text = _canonical(item)
            if left[text]:
                left[text] -= 1
                self.extra.append(((*place, "[]"), _EXTRA, (item,)))

    def _unlike(self, place: Place, ours: Any, theirs: Any) -> None:
        """Two values of which at most one has something below it, or one is not there."""
        if not _has_parts(ours) and not _has_parts(theirs) and ours is not _NOTHING and theirs is not _NOTHING:
            if _equal(ours, theirs, self.tolerance):
                self.same += 1
            else:
                self.wrong.append((place, _WRONG, (ours, theirs)))
            return
        self.wrong += [(where, _MISSING, (part,)) for where, part in self._leaves(place, theirs)]
        self.extra += [(where, _EXTRA, (part,)) for where, part in self._leaves(place, ours)]

    def _leaves(self, place: Place, value: Any) -> Iterator[tuple[Place, JsonValue]]:
        """Each place below this one with what it holds."""
        waiting = [(place, value)] if value is not _NOTHING else []
        while waiting:
            where, part = waiting.pop()
            if self._is_ignored(where):
                continue
            if not _has_parts(part):
                yield where, part
            elif isinstance(part, dict):
                waiting += [((*where, key), item) for key, item in reversed(part.items())]
            elif self.list_order:
                waiting += [((*where, index), part[index]) for index in reversed(range(len(part)))]
            else:
                yield from (((*where, "[]"), item) for item in part)

    def _is_ignored(self, place: Place) -> bool:
        return bool(self.ignored) and any(tuple(map(str, place[: len(name)])) == name for name in self.ignored)


def _has_parts(value: object) -> bool:
    return isinstance(value, _CONTAINERS) and bool(value)


def _canonical(value: JsonValue) -> str:
    """The same text for the same JSON value, however deep it nests."""
    texts: list[str] = []
    waiting: list[tuple[JsonValue, bool]] = [(value, False)]
    while waiting:
        part, is_gone_through = waiting.pop()
        if not isinstance(part, dict | list) or not part:
            texts.append(json_text([int(part) if isinstance(part, float) and part.is_integer() else part]))
        elif not is_gone_through:
            waiting.append((part, True))
            waiting += [(item, False) for item in (part.values() if isinstance(part, dict) else part)]
        else:
            # the last part was gone through first
            texts[-len(part) :] = [_joined(part, texts[: -len(part) - 1 : -1])]
    return texts[0]


def _joined(value: JsonValue, parts: Sequence[str]) -> str:
    """The text of an object or a list, from those of its parts."""
    if isinstance(value, dict):
        return f"{{{','.join(sorted(f'{json_text([key])}:{text}' for key, text in zip(value, parts, strict=True)))}}}"
    return f"[{','.join(sorted(parts))}]"


def _equal(one: JsonValue, other: JsonValue, tolerance: float) -> bool:
    if json_kind(one) != json_kind(other):
        return False
    # lists and objects that come here are empty
    if one == other or isinstance(one, list | dict):
        return True
    if not tolerance or not isinstance(one, int | float) or not isinstance(other, int | float):
        return False
    try:
        return abs(one - other) <= tolerance
    except OverflowError:
        return False


def _finding(place: Place, said: str, values: Sequence[JsonValue]) -> Finding:
    reason = said.format(*map(shown, values))
    text = "".join([f"[{step}]" if isinstance(step, int) else f".{step}" for step in place]).removeprefix(".")
    return Finding.trusted({"text": text or "(whole)", "passed": False, "reason": reason})


EVALUATORS = (
    Heuristic(
        name="heuristic/json_diff",
        fn=json_diff,
        options=DiffOptions,
        display_name="JSON diff",
        definition="How much of the answer, read as JSON, is that of the reference.",
        formula="places at which both hold the same / places that either has",
        source="own",
        kind="heuristic",
        requires=("output", "reference"),
        non_empty=("output",),
        custom=("ignore",),
    ),
)
