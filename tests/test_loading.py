"""Apps by the name of their object, and plugins by their entry point."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from genkit_eval import ConfigError, GenkitEval, Plugin
from genkit_eval.loading import PLUGIN_GROUP, app_of_plugins, installed_plugins, load_app

APP = "from genkit_eval import GenkitEval\nge = GenkitEval()\nother = 3\nclass box:\n    ge = ge\n"


@pytest.fixture(autouse=True)
def no_modules_left_behind() -> Iterator[None]:
    path, modules = sys.path[:], set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if "loaded" in name:
            del sys.modules[name]


@pytest.mark.parametrize("ref", ["loaded_app:ge", "loaded_app.py:ge", "./loaded_app.py:ge", "loaded_app:box.ge"])
def test_an_app_is_found_by_module_or_file(tmp_path: Path, ref: str) -> None:
    (tmp_path / "loaded_app.py").write_text(APP, encoding="utf-8")

    assert isinstance(load_app(ref, folder=tmp_path), GenkitEval)


def test_an_app_imports_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "loaded_part.py").write_text(APP, encoding="utf-8")
    (tmp_path / "inner" / "loaded_app.py").write_text("from loaded_part import ge", encoding="utf-8")

    assert isinstance(load_app("inner/loaded_app.py:ge", folder=tmp_path), GenkitEval)


def test_a_file_does_not_take_the_place_of_another_module(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text(APP, encoding="utf-8")
    import json

    load_app("json.py:ge", folder=tmp_path)

    assert sys.modules["json"] is json
    del sys.modules["_app_json"]


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("loaded_app:eg", "did you mean 'ge'"),
        ("loaded_app:other", "is int, not a GenkitEval: write 'loaded_app:ge'"),
        ("loaded_app.py", "names no object: write 'loaded_app.py:ge'"),
        ("loaded_app", "names no object: write 'loaded_app:ge'"),
        ("loaded_nowhere:ge", "there is no module 'loaded_nowhere'"),
        ("loaded_nowhere.py:ge", "there is no file"),
        ("loaded_empty:ge", "has no GenkitEval object"),
        ("loaded_raising.py:ge", "cannot be imported: ZeroDivisionError: division by zero ("),
        ("loaded_raising.py:ge", "loaded_raising.py, line 3)"),
        ("loaded_leaving:ge", "cannot be imported: SystemExit: 3"),
        ("loaded_wrong:ge", "cannot be imported: SyntaxError"),
        ("loaded_lacking:ge", "cannot be imported: ModuleNotFoundError: No module named 'loaded_other'"),
    ],
)
def test_what_cannot_be_loaded_is_refused_with_the_reason(tmp_path: Path, ref: str, said: str) -> None:
    (tmp_path / "loaded_app.py").write_text(APP, encoding="utf-8")
    (tmp_path / "loaded_empty.py").write_text("", encoding="utf-8")
    (tmp_path / "loaded_raising.py").write_text("\n\n1 / 0", encoding="utf-8")
    (tmp_path / "loaded_leaving.py").write_text("raise SystemExit(3)", encoding="utf-8")
    (tmp_path / "loaded_wrong.py").write_text("def", encoding="utf-8")
    (tmp_path / "loaded_lacking.py").write_text("import loaded_other", encoding="utf-8")

    with pytest.raises(ConfigError) as refused:
        load_app(ref, folder=tmp_path)

    assert said in str(refused.value)


def test_a_broken_plugin_costs_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loaded_plugins.py").write_text(
        "from genkit_eval import Plugin\n"
        "def factory(): return Plugin('a', lambda registry: registry.define_evaluator('a/yes', lambda p: True))\n"
        "plugin = Plugin('b', lambda registry: None)\n"
        "def raising(): raise RuntimeError('no licence')\n"
        "def text(): return 'no plugin'\n"
        "late = Plugin('e', lambda registry: 1 / 0)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    names = ["factory", "plugin", "raising", "text", "late", "nowhere"]
    points = [EntryPoint(name, f"loaded_plugins:{name}", PLUGIN_GROUP) for name in names]

    found = installed_plugins(points)
    app, problems = app_of_plugins(found, root=tmp_path)

    assert {one.name: type(one.plugin) for one in found if one.problem is None} == dict.fromkeys(
        ["factory", "late", "plugin"], Plugin
    )
    assert list(app.registry.evaluators) == ["a/yes"]
    assert [problem.split("'")[1] for problem in problems] == ["late", "nowhere", "raising", "text"]
    assert "RuntimeError: no licence" in problems[2]
    assert "gives str, not a Plugin" in problems[3]


def test_a_factory_is_given_the_settings_that_it_has_parameters_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loaded_judges.py").write_text(
        "from genkit_eval import Plugin\n"
        "def one(*, judge=None, other=1): return Plugin(f'judge is {judge}', lambda registry: None)\n"
        "def none(): return Plugin('none', lambda registry: None)\n"
        "def anything(**given): return Plugin(f'given {given}', lambda registry: None)\n"
        "def strict(*, judge, needed): return Plugin('strict', lambda registry: None)\n"
        "plugin = Plugin('plugin', lambda registry: None)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    names = ["anything", "none", "one", "plugin", "strict"]
    points = [EntryPoint(name, f"loaded_judges:{name}", PLUGIN_GROUP) for name in names]

    found = installed_plugins(points, offered={"judge": "openai/x", "embedder": "openai/y"})

    assert [one.plugin.name if one.plugin else None for one in found] == [
        "given {}",
        "none",
        "judge is openai/x",
        "plugin",
        None,
    ]
    assert [one.took for one in found] == [(), (), ("judge",), (), ("judge",)]


def test_an_app_at_another_root_keeps_its_definitions(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path / "a")

    moved = ge.at(tmp_path / "b")
    ge.define_flow("later", lambda value: value)

    assert (ge.root, moved.root) == (tmp_path / "a", tmp_path / "b")
    assert moved.registry.flow("later").name == "later"
