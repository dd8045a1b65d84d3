"""What is public is named, importable and documented, in every module of the core and of the plugins."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

import genkit_eval
import genkit_eval_heuristics
import genkit_eval_judges
import genkit_eval_local
import genkit_eval_metrics
import genkit_eval_openai

PROGRAMS = {"__main__"}
"""Modules that are run, not imported for their names."""


def module_names() -> list[str]:
    packages = (
        genkit_eval,
        genkit_eval_heuristics,
        genkit_eval_judges,
        genkit_eval_local,
        genkit_eval_metrics,
        genkit_eval_openai,
    )
    names = [package.__name__ for package in packages]
    for package in packages:
        names += [info.name for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return sorted(name for name in names if name.rpartition(".")[2] not in PROGRAMS)


def defined_in(module: ModuleType) -> set[str]:
    """Functions and classes that a module defines itself, under a name without an underscore."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isroutine(value))
        and value.__module__ == module.__name__
    }


@pytest.mark.parametrize("name", module_names())
def test_all_names_what_the_module_offers(name: str) -> None:
    module = importlib.import_module(name)

    names = module.__all__

    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(module, name)] == []
    assert sorted(defined_in(module) - set(names)) == []


@pytest.mark.parametrize("name", module_names())
def test_all_is_sorted(name: str) -> None:
    """CONSTANTS, then Classes, then functions, each by name: the order that the linter keeps too."""
    names = importlib.import_module(name).__all__

    kinds = [0 if name.isupper() else 1 if name[0].isupper() else 2 for name in names]

    assert kinds == sorted(kinds)
    assert list(names) == [name for _, name in sorted(zip(kinds, names, strict=True))]


@pytest.mark.parametrize("name", module_names())
def test_every_module_says_what_it_is_for(name: str) -> None:
    assert (importlib.import_module(name).__doc__ or "").strip()


@pytest.mark.parametrize("name", module_names())
def test_every_public_name_has_a_docstring(name: str) -> None:
    module = importlib.import_module(name)
    mute = []

    for public in module.__all__:
        value = getattr(module, public)
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        if not value.__doc__:
            mute.append(public)
        mute += [f"{public}.{member}" for member in mute_members(value)]

    assert mute == []


def mute_members(value: object) -> list[str]:
    """Public methods and properties that a class defines without saying what they give."""
    if not inspect.isclass(value) or not value.__module__.startswith("genkit_eval"):
        return []
    return [
        name
        for name, member in vars(value).items()
        if not name.startswith("_")
        and (inspect.isroutine(member) or isinstance(member, property | classmethod | staticmethod))
        and not inspect.getdoc(getattr(value, name))
    ]


def test_the_package_itself_offers_what_its_all_says() -> None:
    """Names are looked up when they are used, so `dir` must know them beforehand."""
    assert set(genkit_eval.__all__) <= set(dir(genkit_eval))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = genkit_eval.Nonsense  # type: ignore[attr-defined]
