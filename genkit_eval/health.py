"""What is installed, where everything lies, and what is wrong with it: what `genkit-eval doctor` tells."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from genkit_eval import __version__
from genkit_eval._json import load
from genkit_eval.engine.asking.cache import cache_path
from genkit_eval.errors import GenkitEvalError
from genkit_eval.loading import KEPT, InstalledPlugin, app_of_plugins
from genkit_eval.report.numbers import counted, storage
from genkit_eval.settings import SETTINGS, Settings
from genkit_eval.stored import RunState
from genkit_eval.stores import LocalFileDatasetStore, LocalFileEvalStore, find_root

__all__ = ["Fact", "check_up"]

_PACKAGES = ("pydantic", "anyio", "orjson", "click", "regex", "jsonata-python", "deepdiff", "jsonschema")


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was looked at; `bad` where something wants to be done about it."""

    section: str
    name: str
    value: str
    bad: bool = False


def check_up(settings: Settings, plugins: Iterable[InstalledPlugin]) -> Iterator[Fact]:
    """Look at everything. Reading makes an index anew that is torn; nothing else is changed."""
    root = find_root(settings.root)
    yield from _versions()
    yield from _settings(settings)
    yield from _root(settings, root)
    yield from _datasets(root)
    yield from _runs(root)
    yield from _leftovers(root)
    installed = list(plugins)
    yield from _evaluators(root / KEPT, installed)
    yield _cache()
    yield from _plugins(installed)


def _versions() -> Iterator[Fact]:
    yield Fact("versions", "python", f"{platform.python_version()} ({sys.executable})")
    yield Fact("versions", "system", platform.platform())
    yield Fact("versions", "genkit-eval", __version__)
    for name in _PACKAGES:
        try:
            yield Fact("versions", name, version(name))
        except PackageNotFoundError:
            yield Fact("versions", name, "not installed")


def _settings(settings: Settings) -> Iterator[Fact]:
    yield Fact("settings", "file", str(settings.file or "none found"))
    for name in SETTINGS:
        setting = settings.get(name)
        value = "not set" if setting.value is None else f"{setting.value} (from {setting.origin})"
        yield Fact("settings", name, value)


def _root(settings: Settings, root: Path) -> Iterator[Fact]:
    if settings.root is not None:
        why = f"set by {settings.get('root').origin}" + ("" if root.is_dir() else "; not made yet")
    elif root.is_dir():
        why = "the nearest .genkit upwards within the project"
    else:
        why = "in the project's folder, or here outside of one; not made yet"
    yield Fact("files", "root", str(root))
    yield Fact("files", "chosen as", why)


def _datasets(root: Path) -> Iterator[Fact]:
    store, folder = LocalFileDatasetStore(root), root / "datasets"
    yield from _index(folder / "index.json")
    names = sorted(path.stem for path in folder.glob("*.json") if path.name != "index.json" and path.name[0] != ".")
    yield Fact("files", "datasets", str(len(names)))
    for name in names:
        try:
            # reading every sample is the only way to know that all can be read
            for _ in store.get(name).samples:
                pass
        except GenkitEvalError as problem:
            yield Fact("files", f"dataset {name}", str(problem), bad=True)
    versions = [path for path in folder.glob("versions/*/*") if path.is_file()]
    yield Fact("files", "history", f"{counted(len(versions), 'version')} of datasets, {_size(versions)}")


def _runs(root: Path) -> Iterator[Fact]:
    store, folder = LocalFileEvalStore(root), root / "evals"
    yield from _index(folder / "index.json")
    unreadable = store.unreadable()
    keys = [key for key in store.list() if key.eval_run_id not in unreadable]
    unfinished = [key.eval_run_id for key in keys if key.state is RunState.INCOMPLETE]
    yield Fact("files", "runs", f"{len(keys) - len(unfinished)} finished, {_size(folder.glob('*.json*'))}")
    for run_id in unfinished:
        yield Fact("files", f"run {run_id}", "in progress or interrupted: genkit-eval resume goes on with it")
    for run_id, problem in unreadable.items():
        yield Fact("files", f"run {run_id}", str(problem), bad=True)


def _evaluators(folder: Path, plugins: list[InstalledPlugin]) -> Iterator[Fact]:
    if not folder.is_dir():
        return
    # it reads YAML, which takes a while to load
    from genkit_eval.evaluator_files import kept_files, load_evaluators

    ge, _ = app_of_plugins(plugins, root=None)
    yield Fact("files", "evaluators", str(len(kept_files(folder))))
    for problem in load_evaluators(ge.registry, folder):
        yield Fact("files", "evaluator", problem, bad=True)


def _index(path: Path) -> Iterator[Fact]:
    try:
        load(path.read_bytes())
    except FileNotFoundError:
        return
    except (ValueError, OSError) as problem:
        yield Fact("files", "index", f"{path} was not readable ({problem}); reading makes it anew", bad=True)


def _leftovers(root: Path) -> Iterator[Fact]:
    left = [*root.glob("*/**/.*.tmp"), *root.glob("datasets/**/.deleted-*")]
    if left:
        yield Fact("files", "leftovers", f"{len(left)} of killed processes, {_size(left)}; the next change sweeps them")


def _cache() -> Fact:
    path = cache_path()
    files = list(path.parent.glob(f"{path.name}*"))
    return Fact("files", "cache", f"{path}, {_size(files)}" if files else f"{path}; not made yet")


def _plugins(plugins: list[InstalledPlugin]) -> Iterator[Fact]:
    _, problems = app_of_plugins(plugins, root=None)
    broken = {plugin.name: problem for plugin in plugins for problem in problems if f"'{plugin.name}'" in problem}
    for plugin in plugins:
        yield Fact("plugins", plugin.name, broken.get(plugin.name, plugin.source), bad=plugin.name in broken)
    if not plugins:
        yield Fact("plugins", "none", "no plugin is installed (entry-point group genkit_eval.plugins)")


def _size(paths: Iterable[Path]) -> str:
    return storage(sum(path.stat().st_size for path in paths if path.is_file()))
