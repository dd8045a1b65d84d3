"""The plugin's README is true: its table is that of the catalogue, and its Python runs."""

from __future__ import annotations

import re

import pytest

from genkit_eval_judges.catalogue import JUDGES
from tests.plugins.judges.catalogue_table import README, catalogue_table
from tests.plugins.readme_table import with_table

TEXT = README.read_text(encoding="utf-8")


def test_the_table_is_that_of_the_catalogue() -> None:
    assert with_table(TEXT, catalogue_table()) == TEXT, "write it anew: python -m tests.plugins.judges.catalogue_table"


def test_each_judge_has_a_row() -> None:
    rows = re.findall(r"^\| `((?:judge|quality)/\w+)`", TEXT, re.MULTILINE)

    assert rows == sorted(recipe.name for recipe in JUDGES)


def test_its_python_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)

    exec("\n".join(blocks), {})

    assert capsys.readouterr().out.splitlines() == re.findall(r"print\(.*\)  # (.+)", "\n".join(blocks))
