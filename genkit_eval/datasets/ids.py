"""Ids of samples: made for those that have none, and no two alike."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator
from hashlib import blake2b
from itertools import islice

import orjson

from genkit_eval.errors import DataFileError, Problem
from genkit_eval.types import Sample

__all__ = ["IdIndex", "check_ids", "fill_ids"]

_PREFIX = "case-"


def fill_ids(samples: Iterable[Sample], *, taken: Container[str] | None = None) -> Iterator[Sample]:
    """The samples, each with an id: its own, or one made from its input.

    A made id is `case-` and a digest of the input (of the whole sample where there is none), with the number of the
    occurrence from the second on. So it stays the same over runs, and when samples are inserted, removed or moved,
    except among those with an equal input. An id that was given is never made.

    Args:
        samples: in their order.
        taken: the given ids that look made, as `check_file` returns them; the samples are a stream then.
            Without it they are held in memory, and ids given twice are refused.
    Raises:
        DataFileError: an id was given twice.
    """
    if taken is None:
        samples = list(samples)
        taken = check_ids(samples)
        if len(taken) == len(samples):
            yield from samples
            return
    seen: set[int] = set()
    last: dict[int, int] = {}
    for sample in samples:
        if sample.test_case_id:
            yield sample
            continue
        digest = _digest(sample)
        number = last.get(digest, 1) + 1 if digest in seen else 1
        while (name := _name(digest, number)) in taken:
            number += 1
        seen.add(digest)
        if number > 1:
            last[digest] = number
        yield _with_id(sample, name)


def check_ids(samples: Iterable[Sample], *, source: str = "samples") -> frozenset[str]:
    """The ids that were given, if no two are alike.

    Raises:
        DataFileError: names each id that was given twice, and both places.
    """
    samples = list(samples)
    given = [name for sample in samples if (name := sample.test_case_id)]
    unique = frozenset(given)
    if len(unique) == len(given):
        return unique
    first: dict[str, int] = {}
    problems = []
    for position, sample in enumerate(samples, start=1):
        name = sample.test_case_id
        if name:
            earlier = first.setdefault(name, position)
            if earlier != position:
                problems.append(Problem(f"testCaseId '{name}' is taken by sample {earlier}", sample=str(position)))
    if problems:
        raise DataFileError(source, problems)
    return frozenset(first)


def _name(digest: int, number: int) -> str:
    return f"{_PREFIX}{digest:016x}" if number == 1 else f"{_PREFIX}{digest:016x}-{number}"


def _digest(sample: Sample) -> int:
    value = [sample.input] if sample.has("input") else sample.to_json()
    try:
        data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # integers beyond 64 bits, and nesting that orjson refuses
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    return _hash(data)


def _hash(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def _with_id(sample: Sample, name: str) -> Sample:
    values = vars(sample)
    given = {attribute: values[attribute] for attribute in sample.model_fields_set}
    return type(sample).trusted({**given, "test_case_id": name})


class IdIndex:
    """The ids that a file gives, in 8 bytes each, 16 for those that look made; to find repeated and taken ones.

    `name in index` asks for a made id. Digests stand for ids, so one in 10^13 made ids seems taken without being so,
    always the same one, which costs nothing but an occurrence number. Repeated ids are suspects only.
    """

    def __init__(self) -> None:
        self._hashes = array("q")
        self._made = array("Q")

    def __len__(self) -> int:
        return len(self._hashes)

    def __contains__(self, name: object) -> bool:
        digest = _hash(str(name).encode())
        place = bisect_left(self._made, digest)
        return place < len(self._made) and self._made[place] == digest

    def add_all(self, samples: Iterable[Sample]) -> None:
        """Note the ids of samples."""
        names = [sample.test_case_id for sample in samples if sample.test_case_id]
        self._hashes.extend(map(hash, names))
        self._made.extend(_hash(name.encode()) for name in names if name.startswith(_PREFIX))

    def close(self) -> frozenset[int]:
        """Make ready for looking up; the `hash` of each id that may have been given more than once."""
        self._made[:] = array("Q", sorted(self._made))
        ordered = sorted(self._hashes)
        pairs = zip(ordered, islice(ordered, 1, None), strict=False)
        return frozenset(number for number, following in pairs if number == following)
