"""The table in the plugin's README, made from what its evaluators say about themselves.

python -m tests.plugins.heuristics.catalogue_table     writes it anew
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import genkit_eval_heuristics
from genkit_eval import Registry
from genkit_eval.definitions import Evaluator
from genkit_eval_heuristics import heuristics
from tests.plugins.readme_table import alias_text, by_namespace, with_table

__all__ = ["README", "catalogue_table"]

README = Path(genkit_eval_heuristics.__path__[0]) / "README.md"
COLUMNS = ("evaluator", "a high score says", "formula", "range", "reads", "options", "as in")


def catalogue_table() -> str:
    """A table for each namespace, a row for each evaluator."""
    registry = Registry()
    registry.install(heuristics())
    aliases: dict[str, list[Evaluator]] = defaultdict(list)
    for alias in registry.aliases.values():
        aliases[str(alias.alias_of)].append(alias)
    evaluators = sorted(registry.evaluators.items())
    return by_namespace(COLUMNS, ((name, _cells(evaluator, aliases[name])) for name, evaluator in evaluators))


def _cells(evaluator: Evaluator, aliases: list[Evaluator]) -> Iterator[str]:
    rule, metadata = evaluator.rule, evaluator.metadata
    yield f"`{evaluator.name}`"
    better = "" if evaluator.direction.value == "maximize" else " The lower the better."
    yield evaluator.definition + better
    yield str(metadata["formula"])
    yield rule.bounds().replace("-∞ to ∞", "any number")
    yield ", ".join(f"`{name}`" for name in evaluator.reads)
    fields = evaluator.options.model_fields if evaluator.options is not None else {}
    yield ", ".join(
        f"`{name}`" if info.is_required() else f"`{name}={info.get_default(call_default_factory=True)!r}`"
        for name, info in fields.items()
    )
    names = [alias_text(alias.name, alias.presets) for alias in sorted(aliases, key=lambda alias: alias.name)]
    yield "; ".join([str(metadata["source"]), *names])


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8"), catalogue_table()), encoding="utf-8")
