"""Entries of a dataset for the judge: those whose inputs are nearest in meaning to a part of the case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from operator import itemgetter, mul

import anyio
from anyio import to_thread
from pydantic import JsonValue

from genkit_eval import ConfigError, Sample
from genkit_eval.claims import numbered
from genkit_eval.dataset_access import read_dataset
from genkit_eval.judged import NONE, Instruments, NothingToJudge
from genkit_eval.judged.embedding import Embedding
from genkit_eval.prompts import fenced
from genkit_eval.text import text_of
from genkit_eval_judges.criterion import Nearest, Own, Variable
from genkit_eval_judges.inputs import INPUTS, Inputs

__all__ = ["Entries", "entries_of", "found_entries"]

AT_ONCE = 100
"""So many texts go to the embedder in one call."""


@dataclass
class Entries:
    """A dataset in one run: its entries, and their directions once somebody asks for the nearest."""

    variable: str
    nearest: Nearest
    version: int
    samples: Sequence[Sample]
    _directions: list[list[float]] = field(default_factory=list)
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    async def found(self, inputs: Inputs, embedder: Embedding) -> list[tuple[Sample, float]]:
        """The nearest entries with their cosines, nearest first; of equal ones the first in the dataset.

        The case itself is none of them: an entry of the same id and input is left out.

        Raises:
            NothingToJudge: the part to compare with is empty.
        """
        text = _text(self.nearest.by, inputs)
        if not text.strip():
            raise NothingToJudge(f"there is no {self.nearest.by} by which entries of '{self.nearest.dataset}' are near")
        async with self._turn:
            await self._embedded(embedder)
        (query,) = await embedder.directions([text])
        # a thousand entries take a tenth of a second, in which the loop has better things to do
        return await to_thread.run_sync(self._near, query, inputs, abandon_on_cancel=True)

    def _near(self, query: Sequence[float], inputs: Inputs) -> list[tuple[Sample, float]]:
        pairs = zip(self.samples, self._directions, strict=True)
        near = [(sample, sum(map(mul, query, other))) for sample, other in pairs if not _same(sample, inputs)]
        return nlargest(self.nearest.k, near, key=itemgetter(1))

    async def _embedded(self, embedder: Embedding) -> None:
        """What is embedded stays so, even if a later call fails."""
        while len(self._directions) < len(self.samples):
            begun = len(self._directions)
            texts = [text_of(sample.input) or NONE for sample in self.samples[begun : begun + AT_ONCE]]
            self._directions += await embedder.directions(texts)

    def told(self, found: Sequence[tuple[Sample, float]]) -> dict[str, JsonValue]:
        """Which entries the judge saw, for the details of a score."""
        return {
            "dataset": self.nearest.dataset,
            "version": self.version,
            "entries": [sample.test_case_id for sample, _ in found],
            "similarities": [round(similarity, 6) for _, similarity in found],
        }


def entries_of(own: Own) -> Mapping[str, Entries]:
    """The datasets of its variables, as they are now.

    Raises:
        ConfigError: one is not there.
    """
    found = {}
    for item in own.shown:
        if item.nearest is not None:
            try:
                dataset = read_dataset(item.nearest.dataset, item.nearest.version)
            except ConfigError as problem:
                raise ConfigError(f"evaluator '{own.evaluator}', variable '{item.name}': {problem}") from problem
            found[item.name] = Entries(item.name, item.nearest, dataset.metadata.version, dataset.samples)
    return found


async def found_entries(
    own: Own, entries: Mapping[str, Entries], inputs: Inputs, use: Instruments
) -> tuple[dict[str, str], dict[str, JsonValue]]:
    """What stands in the places of such variables, and what details of a score say of it.

    Raises:
        NothingToJudge: there is no entry for a variable that is required, or nothing to compare with.
    """
    values: dict[str, str] = {}
    told: dict[str, JsonValue] = {}
    for item in own.shown:
        if item.name in entries:
            values[item.name], told[item.name] = await _one(item, entries[item.name], inputs, use)
    return values, told


async def _one(variable: Variable, entries: Entries, inputs: Inputs, use: Instruments) -> tuple[str, JsonValue]:
    if use.embedder is None:
        raise ConfigError("no embedder was given")
    try:
        found = await entries.found(inputs, use.embedder)
        if not found:
            raise NothingToJudge(f"dataset '{entries.nearest.dataset}' has no entry to show as '{variable.name}'")
    except NothingToJudge:
        if variable.required:
            raise
        found = []
    lines = [_entry(sample, entries.nearest.show) for sample, _ in found]
    return fenced(numbered(lines) if lines else NONE), entries.told(found)


def _entry(sample: Sample, show: Sequence[str]) -> str:
    parts = [f"{name}: {text_of(getattr(sample, name))}" for name in show if sample.has(name)]
    return "\n   ".join("\n".join(parts).splitlines())


def _text(part: str, inputs: Inputs) -> str:
    return INPUTS[part].text(inputs) if part in INPUTS else text_of(inputs.point.custom.get(part))


def _same(sample: Sample, inputs: Inputs) -> bool:
    point = inputs.point
    return sample.test_case_id == point.test_case_id and sample.input == point.input
