"""From the rows of a file to samples, with everything that is wrong or odd about them kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from genkit_eval.attachments import is_elsewhere, taken_in
from genkit_eval.datasets.fields import ATTRIBUTES, CHECKS, KEYS, NULLABLE, OUTPUTS, Check, kind_of, meant
from genkit_eval.datasets.strict_json import faults
from genkit_eval.errors import DataError, DataFileError, Problem
from genkit_eval.misfits import misfits
from genkit_eval.types import Attachment, Sample

__all__ = ["Batch", "Intake", "Place"]

KEPT_PROBLEMS = 1000
KEPT_SHAPES = 1000
IGNORED = "metrics"
"""What an exported run has beside its data points; nobody needs to be told that it is left out."""
FILES = ("attachments", "output_attachments")
"""Fields that hold files, which are looked at."""
SUBSTANCE = ("input", *OUTPUTS)
"""A sample has at least one of these."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands: its line (None where the format has none), and its position counted from 1."""

    line: int | None
    position: int

    def __str__(self) -> str:
        return f"sample {self.position}" + (f" (line {self.line})" if self.line is not None else "")


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples in order; places where the reader went carefully, else only the position of the first."""

    samples: Sequence[Sample]
    places: Sequence[Place] | None = None


@dataclass(frozen=True, slots=True)
class _Shape:
    """What is known of all rows with the same keys, none of which holds more than a simple field."""

    pick: Callable[[dict[str, Any]], Iterable[object]]
    make: Callable[[Iterable[object]], Sample]
    kinds: Sequence[tuple[str, type]]
    checks: Sequence[tuple[str, Callable[[object], bool]]]


@dataclass(frozen=True, slots=True)
class Intake:
    """Collects the problems of one source, and what is worth a notice, while its rows become samples."""

    source: str
    careful: bool = False
    """Whether readers shall go the slow way at once, which knows the place of every sample."""
    problems: list[Problem] = field(default_factory=list)
    notices: dict[str, str] = field(default_factory=dict)
    _more: list[None] = field(default_factory=list)
    _shapes: dict[tuple[str, ...], _Shape | None] = field(default_factory=dict)

    def add(self, problem: Problem) -> None:
        """Keep a problem; beyond the first thousand they are only counted."""
        if len(self.problems) < KEPT_PROBLEMS:
            self.problems.append(problem)
        else:
            self._more.append(None)

    def raise_if_any(self) -> None:
        """Raise all problems met so far as one error."""
        if self.problems:
            raise DataFileError(self.source, self.problems, more=len(self._more))

    def quick(self, rows: Sequence[object], position: int) -> list[Sample] | None:
        """The samples of rows of JSON that is known to be exact, or None where a row needs a careful look.

        Args:
            rows: parsed JSON values.
            position: of the first one in its file, counted from 1.
        """
        samples: list[Sample] = []
        for row in rows:
            if type(row) is not dict:
                return None
            sample = self._plain(row, position + len(samples))
            if sample is None:
                general = self._general(row, Place(None, position + len(samples)))
                if isinstance(general, list):
                    return None
                sample = general
            samples.append(sample)
        return samples

    def _plain(self, row: dict[str, Any], position: int) -> Sample | None:
        """The sample of a row that holds simple fields only and nothing wrong, at the least cost; else None."""
        keys = tuple(row)
        try:
            shape = self._shapes[keys]
        except KeyError:
            shape = self._learn(keys, position)
        if shape is None:
            return None
        for key, kind in shape.kinds:
            if type(row[key]) is not kind:
                lean = {key: value for key, value in row.items() if value is not None or key in NULLABLE}
                return self._plain(lean, position) if len(lean) < len(row) else None
        if shape.checks and not all(fits(row[key]) for key, fits in shape.checks):
            return None
        return shape.make(shape.pick(row))

    def sample(self, row: object, place: Place) -> Sample | None:
        """The sample of one row, or None when there are problems, which are kept."""
        found = [self._problem(message, place, row, path) for path, message in faults(row)]
        sample = found or self._general(row, place)
        if isinstance(sample, Sample):
            return sample
        for problem in sample:
            self.add(problem)
        return None

    def batch(self, rows: Iterable[tuple[object, Place]]) -> Batch:
        """The samples of rows that are looked at one by one."""
        samples, places = [], []
        for row, place in rows:
            sample = self.sample(row, place)
            if sample is not None:
                samples.append(sample)
                places.append(place)
        return Batch(samples, places)

    def _learn(self, keys: tuple[str, ...], position: int) -> _Shape | None:
        names = self._attributes(keys, Place(None, position))
        attributes = set(names.values())
        shape = None
        simple = attributes <= CHECKS.keys() and attributes.isdisjoint(FILES)
        if len(names) == len(attributes) and simple and not attributes.isdisjoint(SUBSTANCE):
            checked = [(key, CHECKS[name]) for key, name in names.items() if name not in NULLABLE]
            kinds = [(key, check.kind) for key, check in checked if check.kind is not None]
            checks = [(key, check.fits) for key, check in checked if check.kind is None]
            known = tuple(names)
            pick = dict.values if known == keys else lambda row: [row[key] for key in known]
            shape = _Shape(pick, Sample.maker(list(names.values())), kinds, checks)
        if len(self._shapes) < KEPT_SHAPES:
            self._shapes[keys] = shape
        return shape

    def _attributes(self, keys: Iterable[str], place: Place) -> dict[str, str]:
        names = {}
        for key in keys:
            name = ATTRIBUTES.get(key)
            if name is not None:
                names[key] = name
            elif key not in self.notices and key != IGNORED:
                self._notice(key, place)
        return names

    def _notice(self, key: str, place: Place) -> None:
        if len(self.notices) >= KEPT_SHAPES:
            return
        likely = meant(key)
        advice = f"did you mean '{likely}'?" if likely else "put it into 'custom' to keep it"
        self.notices[key] = f"key '{key}', first in {place}, is not part of a sample and is ignored: {advice}"

    def _general(self, row: object, place: Place) -> Sample | list[Problem]:
        if not isinstance(row, dict):
            return [self._problem(f"expected an object, found {kind_of(row)}", place, row)]
        names = self._attributes(row, place)
        given: dict[str, object] = {}
        problems = []
        for key, name in names.items():
            if name in given:
                problems.append(self._problem(f"key '{name}' repeats '{KEYS[name]}': keep one", place, row, key))
            elif row[key] is not None or name in NULLABLE:
                given[name] = row[key]
        if given.keys().isdisjoint(SUBSTANCE):
            found = ", ".join(f"'{key}'" for key in list(row)[:8]) or "no key at all"
            hint = ": a log of chats is read with format chat" if "messages" in row else ""
            problems.append(self._problem(f"there is no 'input' (found {found}){hint}", place, row))
        for name in given.keys() & CHECKS.keys():
            if not CHECKS[name].fits(given[name]):
                message = _misfit(CHECKS[name], given[name], name)
                problems.append(self._problem(message, place, row, KEYS[name]))
        if not problems:
            problems = [self._problem(message, place, row, path) for path, message in self._take_files(given, place)]
        if problems:
            return problems
        modelled = {KEYS[name]: value for name, value in given.items() if name not in CHECKS}
        if not modelled:
            return Sample.trusted(given)
        try:
            validated = vars(Sample.model_validate(modelled))
            return Sample.trusted({name: given[name] if name in CHECKS else validated[name] for name in given})
        except ValidationError as fault:
            return [self._problem(message, place, row, path) for path, message in misfits(fault, modelled)]

    def _take_files(self, given: dict[str, Any], place: Place) -> list[tuple[str, str]]:
        """Look at the files that are attached, those of a file of data by its folder; what is wrong with some."""
        wrong: list[tuple[str, str]] = []
        for name in FILES:
            if name in given:
                given[name], faulty = self._attached(given[name], KEYS[name])
                wrong += faulty
                if any(is_elsewhere(file) for file in given[name]):
                    self.notices.setdefault(
                        "http://",
                        f"a file of {place} is given by an address of http: nothing is fetched from there, and judges "
                        "that read files call such cases inconclusive; download it and give its path",
                    )
        return wrong

    def _attached(self, items: Any, key: str) -> tuple[list[Attachment], list[tuple[str, str]]]:
        found, wrong = [], []
        for number, item in enumerate(items):
            path = f"{key}[{number}]"
            if not isinstance(item, str | dict):
                wrong.append((path, f"expected a path, or an object with 'path' or 'url': found {kind_of(item)}"))
                continue
            try:
                found.append(taken_in(Attachment.model_validate(item), Path(self.source).parent))
            except ValidationError as fault:
                wrong += [(f"{path}.{inner}".rstrip("."), message) for inner, message in misfits(fault, item)]
            except DataError as fault:
                wrong.append((path, str(fault)))
        return found, wrong

    def _problem(self, message: str, place: Place, row: object, path: str | None = None) -> Problem:
        name = row.get("testCaseId", row.get("test_case_id")) if isinstance(row, dict) else None
        sample = f"{place.position} ('{name}')" if isinstance(name, str) and name else str(place.position)
        return Problem(message, line=place.line, field=path or None, sample=sample)


def _misfit(check: Check, value: object, name: str) -> str:
    if isinstance(value, list) and check.expected.endswith("list of text"):
        index, item = next((i, item) for i, item in enumerate(value) if not isinstance(item, str))
        return f"expected {check.expected}, found {kind_of(item)} at [{index}]"
    hint = ": put it in quotes" if name == "test_case_id" and type(value) is int else ""
    return f"expected {check.expected}, found {kind_of(value)}{hint}"
