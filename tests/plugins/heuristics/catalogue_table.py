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

__all__ = ["README", "catalogue_table", "with_table"]

README = Path(genkit_eval_heuristics.__path__[0]) / "README.md"
BEGIN, END = "<!-- the table, made by a program -->\n", "<!-- end of the table -->\n"
HEAD = "| evaluator | a high score says | formula | range | reads | options | as in |\n|---|---|---|---|---|---|---|\n"


def catalogue_table() -> str:
    """A table for each namespace, a row for each evaluator."""
    registry = Registry()
    registry.install(heuristics())
    aliases: dict[str, list[Evaluator]] = defaultdict(list)
    for alias in registry.aliases.values():
        aliases[str(alias.alias_of)].append(alias)
    tables: dict[str, list[str]] = defaultdict(list)
    for name, evaluator in sorted(registry.evaluators.items()):
        cells = " | ".join(cell.replace("|", "\\|") for cell in _cells(evaluator, aliases[name]))
        tables[name.partition("/")[0]].append(f"| {cells} |\n")
    return "\n".join(f"### {namespace}\n\n{HEAD}{''.join(rows)}" for namespace, rows in tables.items())


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
    names = [_with_presets(alias) for alias in sorted(aliases, key=lambda alias: alias.name)]
    yield "; ".join([str(metadata["source"]), *names])


def _with_presets(alias: Evaluator) -> str:
    presets = ", ".join(f"{name}={value!r}" for name, value in alias.presets.items())
    return f"`{alias.name}`" + (f" ({presets})" if presets else "")


def with_table(text: str) -> str:
    """The README with its table made anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{catalogue_table()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
