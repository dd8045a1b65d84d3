"""The table in the plugin's README, made from what its judges say about themselves.

python -m tests.plugins.judges.catalogue_table     writes it anew
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import genkit_eval_judges
from genkit_eval import Registry
from genkit_eval.definitions import Evaluator
from genkit_eval_judges import JudgeOptions, judges
from genkit_eval_judges.catalogue import JUDGES
from genkit_eval_judges.recipe import Recipe
from tests.plugins.readme_table import alias_text, by_namespace, with_table

__all__ = ["README", "catalogue_table"]

README = Path(genkit_eval_judges.__path__[0]) / "README.md"
COLUMNS = (
    "evaluator",
    "a high score says",
    "formula",
    "scale",
    "better",
    "needs",
    "sees too",
    "calls",
    "options",
    "version",
    "as in",
)


def catalogue_table() -> str:
    """A table for each namespace, a row for each judge."""
    registry = Registry()
    registry.install(judges())
    recipes = sorted(JUDGES, key=lambda recipe: recipe.name)
    return by_namespace(COLUMNS, ((recipe.name, _cells(recipe, registry.evaluator(recipe.name))) for recipe in recipes))


def _cells(recipe: Recipe, evaluator: Evaluator) -> Iterator[str]:
    metadata = evaluator.metadata
    yield f"`{evaluator.name}`"
    yield evaluator.definition
    yield str(metadata["formula"])
    yield evaluator.rule.bounds()
    yield "higher" if evaluator.direction.value == "maximize" else "lower"
    yield _named(recipe.needs)
    yield _named(recipe.reads)
    yield str(metadata["calls"])
    yield ", ".join(_options(evaluator))
    yield evaluator.version
    yield "; ".join([str(metadata["source"]), *(alias_text(*alias) for alias in sorted(recipe.aliases.items()))])


def _named(parts: tuple[str, ...]) -> str:
    return ", ".join(f"`{part}`" for part in parts)


def _options(evaluator: Evaluator) -> Iterator[str]:
    """Those that not every judge has, or that have another default here."""
    assert evaluator.options is not None
    for name, info in evaluator.options.model_fields.items():
        default = info.get_default(call_default_factory=True)
        common = JudgeOptions.model_fields.get(name)
        if common is None or common.get_default(call_default_factory=True) != default:
            yield f"`{name}={default!r}`"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8"), catalogue_table()), encoding="utf-8")
