"""`heuristic/json_diff`: how much of a JSON answer is that of the reference, with credit for parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field, JsonValue

from genkit_eval import DataPoint, Finding, Score, json_text
from genkit_eval_heuristics.definition import Heuristic, verdict
from genkit_eval_heuristics.json_answer import FenceOptions, json_kind, read_json

__all__ = ["EVALUATORS", "DiffOptions", "aggregate", "diff_findings", "json_diff", "leaves"]

MAX_FINDINGS = 50
MAX_SHOWN = 60

Place = tuple[str | int, ...]


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
    findings, same = diff_findings(read.value, reference, options)
    reason = f"{same} of {same + len(findings)} places are the same"
    told = findings[:MAX_FINDINGS]
    if told:
        reason += f"; {told[0].text}: {told[0].reason}" + ("; and more" if len(findings) > 1 else "")
    return verdict(aggregate(same, len(findings)), options, reason=reason, findings=told, details=read.details)


def diff_findings(answer: JsonValue, reference: JsonValue, options: DiffOptions) -> tuple[list[Finding], int]:
    """What differs, a finding for each place in the order of the reference, and at how many places nothing does."""
    ours, theirs = (_counted(value, options) for value in (answer, reference))
    findings: list[Finding] = []
    same = 0
    for place, values in theirs.items():
        found = ours.get(place, [])
        for index, value in enumerate(values):
            if index >= len(found):
                findings.append(_finding(place, f"missing: {_shown(value)}"))
            elif _equal(found[index], value, options.tolerance):
                same += 1
            else:
                findings.append(_finding(place, f"{_shown(found[index])}, expected {_shown(value)}"))
    for place, found in ours.items():
        extra = found[len(theirs.get(place, ())) :]
        findings += [_finding(place, f"not in the reference: {_shown(value)}") for value in extra]
    return findings, same


def aggregate(same: int, different: int) -> float:
    """The share of the places that are the same; 1 where there is none."""
    return same / (same + different) if same + different else 1.0


def leaves(value: JsonValue, *, list_order: bool = True) -> Iterator[tuple[Place, JsonValue]]:
    """Each place of a value with what it holds."""
    waiting: list[tuple[Place, JsonValue]] = [((), value)]
    while waiting:
        place, part = waiting.pop()
        if isinstance(part, dict) and part:
            waiting += [((*place, key), item) for key, item in reversed(part.items())]
        elif isinstance(part, list) and part and list_order:
            waiting += [((*place, index), part[index]) for index in reversed(range(len(part)))]
        elif isinstance(part, list) and part:
            # the item is part of its place, so that items meet whatever their position
            yield from (((*place, "[]", _canonical(item)), item) for item in part)
        else:
            yield place, part


def _counted(value: JsonValue, options: DiffOptions) -> dict[Place, list[JsonValue]]:
    ignored = [tuple(name.split(".")) for name in options.ignore]
    counted: dict[Place, list[JsonValue]] = {}
    for place, part in leaves(value, list_order=options.list_order):
        if not any(tuple(map(str, place[: len(name)])) == name for name in ignored):
            counted.setdefault(place, []).append(part)
    return counted


def _canonical(value: JsonValue) -> str:
    """The same text for the same JSON value."""
    if isinstance(value, dict):
        return f"{{{','.join(sorted(f'{json_text([key])}:{_canonical(item)}' for key, item in value.items()))}}}"
    if isinstance(value, list):
        return f"[{','.join(sorted(map(_canonical, value)))}]"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json_text([value])


def _equal(one: JsonValue, other: JsonValue, tolerance: float) -> bool:
    if json_kind(one) != json_kind(other):
        return False
    # lists and objects at the same place are empty, or whole items that are equal by their place
    if one == other or isinstance(one, list | dict):
        return True
    if not tolerance or not isinstance(one, int | float) or not isinstance(other, int | float):
        return False
    try:
        return abs(one - other) <= tolerance
    except OverflowError:
        return False


def _finding(place: Place, reason: str) -> Finding:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in _without_items(place))
    return Finding.trusted({"text": "".join(steps).removeprefix(".") or "(whole)", "passed": False, "reason": reason})


def _without_items(place: Place) -> Place:
    return place[:-1] if len(place) > 1 and place[-2] == "[]" else place


def _shown(value: JsonValue) -> str:
    text = json_text(value) if not isinstance(value, str) else f'"{value}"'
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


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
