"""The table of evaluators in a plugin's README: how its rows become text, and where it stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

__all__ = ["alias_text", "by_namespace", "with_table"]

BEGIN, END = "<!-- the table, made by a program -->\n", "<!-- end of the table -->\n"


def by_namespace(columns: Iterable[str], rows: Iterable[tuple[str, Iterable[str]]]) -> str:
    """A table for each namespace, a row for each evaluator, given by its name and cells."""
    titles = [*columns]
    head = f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|\n"
    tables: dict[str, list[str]] = defaultdict(list)
    for name, cells in rows:
        text = " | ".join(cell.replace("|", "\\|") for cell in cells)
        tables[name.partition("/")[0]].append(f"| {text} |\n")
    return "\n".join(f"### {namespace}\n\n{head}{''.join(found)}" for namespace, found in tables.items())


def alias_text(name: str, presets: Mapping[str, object]) -> str:
    """An alias with the options that it stands for."""
    options = ", ".join(f"{option}={value!r}" for option, value in presets.items())
    return f"`{name}`" + (f" ({options})" if options else "")


def with_table(text: str, table: str) -> str:
    """The README with its table made anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"
