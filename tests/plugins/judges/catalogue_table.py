"""The table in the plugin's README, made from what its judges say about themselves.

python -m tests.plugins.judges.catalogue_table     writes it anew
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import genkit_eval_judges
from genkit_eval import Registry
from genkit_eval.definitions import Evaluator
from genkit_eval_judges import JudgeOptions, judges
from genkit_eval_judges.catalogue import JUDGES
from genkit_eval_judges.recipe import Recipe

__all__ = ["README", "catalogue_table", "with_table"]

README = Path(genkit_eval_judges.__path__[0]) / "README.md"
BEGIN, END = "<!-- the table, made by a program -->\n", "<!-- end of the table -->\n"
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
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n"


def catalogue_table() -> str:
    """A table for each namespace, a row for each judge."""
    registry = Registry()
    registry.install(judges())
    tables: dict[str, list[str]] = defaultdict(list)
    for recipe in sorted(JUDGES, key=lambda recipe: recipe.name):
        cells = " | ".join(cell.replace("|", "\\|") for cell in _cells(recipe, registry.evaluator(recipe.name)))
        tables[recipe.name.partition("/")[0]].append(f"| {cells} |\n")
    return "\n".join(f"### {namespace}\n\n{HEAD}{''.join(rows)}" for namespace, rows in tables.items())


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
    yield "; ".join([str(metadata["source"]), *(_alias(recipe, name) for name in sorted(recipe.aliases))])


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


def _alias(recipe: Recipe, name: str) -> str:
    presets = ", ".join(f"{option}={value!r}" for option, value in recipe.aliases[name].items())
    return f"`{name}`" + (f" ({presets})" if presets else "")


def with_table(text: str) -> str:
    """The README with its table made anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{catalogue_table()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
