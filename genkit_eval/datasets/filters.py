"""Which samples of a dataset take part: by tag, by id, the first n, a random n."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from genkit_eval.errors import ConfigError, UnknownName
from genkit_eval.types import Sample

__all__ = ["select"]

KNOWN_NAMES = 10_000


def select(
    samples: Iterable[Sample],
    *,
    tags: Collection[str] = (),
    ids: Collection[str] = (),
    limit: int | None = None,
    sample: int | None = None,
    seed: int | None = None,
) -> Iterator[Sample]:
    """The samples that every filter lets through, in their order; a stream stays one.

    Args:
        samples: with ids, where `ids` is given.
        tags: one of these; none given: all.
        ids: these; none given: all.
        limit: the first so many of what is left, taken last.
        sample: so many at random.
        seed: of that random choice; the same seed over the same samples chooses the same ones. Default 0.
    Raises:
        UnknownName: no sample has one of the ids, or any of the tags: before the first sample is given.
        ConfigError: a number below 1.
    """
    for name, number in (("limit", limit), ("sample", sample)):
        if number is not None and number < 1:
            raise ConfigError(f"{name} must be 1 or more, not {number}")
    chosen = iter(samples)
    if ids:
        chosen = iter(_with_ids(chosen, ids))
    if tags:
        chosen = _with_tags(chosen, tags)
    if sample is not None:
        chosen = iter(_at_random(chosen, sample, 0 if seed is None else seed))
    return islice(chosen, limit)


def _with_ids(samples: Iterable[Sample], ids: Collection[str]) -> list[Sample]:
    """Those with the ids; held, because an unknown id shall be told before anything runs."""
    wanted = set([ids] if isinstance(ids, str) else ids)
    known: list[str] = []
    found: list[Sample] = []
    for sample in samples:
        name = sample.test_case_id
        if name in wanted:
            found.append(sample)
        elif name and len(known) < KNOWN_NAMES:
            known.append(name)
    present = {sample.test_case_id for sample in found if sample.test_case_id}
    missing = sorted(wanted - present)
    if missing:
        raise UnknownName("sample", missing[0], [*known, *present])
    return found


def _with_tags(samples: Iterable[Sample], tags: Collection[str]) -> Iterator[Sample]:
    wanted = set([tags] if isinstance(tags, str) else tags)
    known: set[str] = set()
    none = True
    for sample in samples:
        if wanted.isdisjoint(sample.tags):
            if none and len(known) < KNOWN_NAMES:
                known.update(sample.tags)
        else:
            none = False
            yield sample
    if none and not known:
        raise ConfigError(f"unknown tag '{min(wanted)}': no sample has tags")
    if none:
        raise UnknownName("tag", min(wanted), known)


def _at_random(samples: Iterable[Sample], size: int, seed: int) -> list[Sample]:
    """A uniform choice in one pass (reservoir sampling, Vitter's algorithm R), in the samples' order."""
    choose = random.Random(seed)  # noqa: S311 - a choice of samples is no secret
    kept: list[tuple[int, Sample]] = []
    for index, sample in enumerate(samples):
        if index < size:
            kept.append((index, sample))
        elif (place := choose.randrange(index + 1)) < size:
            kept[place] = (index, sample)
    return [sample for _, sample in sorted(kept, key=lambda pair: pair[0])]
