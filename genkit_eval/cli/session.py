"""What a verb works with: the app and its stores, as options, environment and configuration file say."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass

from genkit_eval.app import GenkitEval
from genkit_eval.cli.output import OpenStderr, tell
from genkit_eval.errors import ConfigError, UnknownName
from genkit_eval.loading import KEPT, app_of_plugins, installed_plugins, load_app
from genkit_eval.prices import read_prices
from genkit_eval.settings import Settings, find_settings
from genkit_eval.stores import find_root

__all__ = ["KEPT", "MODELS", "Session", "app_prints_to_stderr", "models_of_run", "open_app", "open_stores"]

MODELS = ("judge", "embedder")
JUDGING = ("judge", "panel", "embedder")
_NEXT_MODEL = re.compile(r"\s*,\s*(?=[\w.-]+/)")


@dataclass(frozen=True)
class Session:
    """An app, and the settings that led to it."""

    ge: GenkitEval
    settings: Settings

    def command(self, verb: str, *arguments: str, app: bool = False) -> str:
        """A command line of ours that works on the same stores (and app, or models), to be copied from the screen."""
        words = ["genkit-eval", verb, *arguments]
        for name in ("app", *JUDGING) if app else ():
            setting = self.settings.get(name)
            if setting.origin == f"--{name}":
                words += [setting.origin, str(setting.value)]
        if self.ge.root != find_root(find_settings({}).root):
            words += ["--root", str(self.ge.root)]
        return shlex.join(words)

    @property
    def how_to_name_an_app(self) -> str | None:
        """What to say where something is not defined because no app was named; None if one was."""
        if self.settings.get("app").value is not None:
            return None
        file = self.settings.file or "genkit-eval.toml"
        return f"no app is named: say which with --app, like --app app.py:ge, or as app in {file}"

    @property
    def without_evaluators(self) -> str:
        """What to say where there is no evaluator at all."""
        return f"no evaluator is defined: {self.how_to_name_an_app or 'define one in the app, or install a plugin'}"

    @contextmanager
    def naming_the_app(self) -> Iterator[None]:
        """Within, a name that nobody defined is refused with the advice to name an app, if none is."""
        try:
            yield
        except UnknownName as problem:
            advice = self.how_to_name_an_app
            if advice is None or problem.kind not in ("flow", "evaluator"):
                raise
            known = self.ge.registry.flows if problem.kind == "flow" else self.ge.registry.evaluators
            said = f"{problem} ({advice})" if known else f"unknown {problem.kind} '{problem.name}': {advice}"
            raise ConfigError(said) from problem


def open_app(options: Mapping[str, object]) -> Session:
    """The app with its definitions: the one that is set, else the installed plugins; broken ones are told.

    Raises:
        ConfigError: there is no such app, or a verb that takes a judge was given one that nothing would use.
    """
    settings = find_settings(options)
    app = settings.get("app")
    if app.value is None:
        return _plugins_session(options, settings)
    for name in JUDGING:
        if name in options and settings.get(name).value is not None:
            raise _not_for_an_app(name, settings)
    with app_prints_to_stderr():
        ge = load_app(str(app.value), folder=app.folder)
    return Session(_with_files(_priced(_caching(_rooted(ge, settings), options), settings)), settings)


def open_stores(options: Mapping[str, object]) -> Session:
    """The stores alone, without definitions: no app is loaded, unless by an option, because its stores are meant."""
    settings = find_settings(options)
    if settings.get("app").origin == "--app":
        return open_app(options)
    return Session(GenkitEval(root=settings.root), settings)


def models_of_run(options: Mapping[str, object]) -> dict[str, str]:
    """Judges and embedder that the run began with, where none is set: other ones would be another ruler."""
    session = open_stores(options)
    if session.settings.get("app").value is not None:
        return {}
    records = session.ge.runs.load(str(options["run"])).key.evaluators
    models = {}
    for name in MODELS:
        names = {", ".join(_several(name, record.models)) for record in records if record.models} - {""}
        # without a provider it is a function or an object of an app, and of several each had its own metric
        if session.settings.get(name).value is None and len(names) == 1 and "/" in min(names):
            models[name] = names.pop()
    panels = {record.panel for record in records if record.panel is not None}
    if session.settings.get("panel").value is None and len(panels) == 1:
        models["panel"] = panels.pop()
    return models


def _several(name: str, models: Mapping[str, str]) -> list[str]:
    """The model of that use, or those of a panel: "judge", "judge 2", …"""
    return [model for use, model in models.items() if use == name or use.startswith(f"{name} ")]


def _offered(settings: Settings) -> dict[str, object]:
    """The models that are set; several judges, with commas between them, are a panel."""
    offered: dict[str, object] = {
        name: settings.get(name).value for name in MODELS if settings.get(name).value is not None
    }
    judges, panel = _NEXT_MODEL.split(str(offered.get("judge", ""))), settings.get("panel")
    twice = next((name for name in judges if judges.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"judge (from {settings.get('judge').origin}) names '{twice}' twice: name each judge once")
    if len(judges) > 1:
        # plugins that judge load it anyway, and nobody else needs it
        from genkit_eval.judged import Panel

        return {**offered, "judge": Panel(judges, by="mean" if panel.value == "mean" else "majority")}
    if panel.origin == "--panel":
        found = "there is one judge" if judges[0] else "no judge is named"
        raise ConfigError(
            f"--panel {panel.value} is how several judges come to one score, but {found}: name several with --judge, "
            "with commas between, like openai/a,openai/b"
        )
    return offered


def _plugins_session(options: Mapping[str, object], settings: Settings) -> Session:
    offered = _offered(settings)
    plugins = installed_plugins(offered=offered)
    ge, problems = app_of_plugins(plugins, root=settings.root)
    for problem in problems:
        tell(f"warning: {problem}")
    for name in offered:
        if name in options and not any(name in plugin.took for plugin in plugins):
            origin = settings.get(name).origin
            raise ConfigError(f"no installed plugin takes the {name} from {origin}: install one, or leave it out")
    return Session(_with_files(_priced(_caching(ge, options), settings)), settings)


def _not_for_an_app(name: str, settings: Settings) -> ConfigError:
    given, app = settings.get(name), settings.get("app")
    models = _NEXT_MODEL.split(str(given.value))
    how = f"{name}={models if name == 'judge' and len(models) > 1 else given.value!r}"
    if name == "panel":
        how = f"judge=Panel([…], by='{given.value}')"
    return ConfigError(
        f"{name} '{given.value}' (from {given.origin}) is for the installed plugins, but app '{app.value}' is named "
        f"(from {app.origin}): set it in the app, like genkit_metrics({how}), or name no app"
    )


def _rooted(ge: GenkitEval, settings: Settings) -> GenkitEval:
    """The app at the root that is set; what its code says goes before everything but an option."""
    root = settings.get("root")
    if settings.root is None or (ge.has_own_root and root.origin != "--root"):
        return ge
    return ge.at(settings.root)


def _caching(ge: GenkitEval, options: Mapping[str, object]) -> GenkitEval:
    """The app with the use of the cache that was asked for."""
    off, only = options.get("no_cache"), options.get("cache_only")
    if off and only:
        raise ConfigError("--no-cache and --cache-only exclude each other: give one")
    return ge.with_cache("off" if off else "only") if off or only else ge


def _priced(ge: GenkitEval, settings: Settings) -> GenkitEval:
    """The app with the prices of the file that is set, which go before those that it has itself."""
    return ge if settings.prices is None else ge.with_prices(read_prices(settings.prices))


def _with_files(ge: GenkitEval) -> GenkitEval:
    """The app with the evaluators that are kept in files beside its runs; what is wrong with them is told."""
    folder = ge.root / KEPT
    if folder.is_dir():
        # it reads YAML, which takes a while to load
        from genkit_eval.evaluator_files import load_evaluators

        for problem in load_evaluators(ge.registry, folder):
            tell(f"warning: {problem}")
    return ge


@contextmanager
def app_prints_to_stderr() -> Iterator[None]:
    """What the app's code prints goes to stderr, and what its child processes print: stdout is for the report."""
    with redirect_stdout(OpenStderr()), _descriptor_to_stderr():
        yield


@contextmanager
def _descriptor_to_stderr() -> Iterator[None]:
    try:
        stdout, stderr = sys.__stdout__.fileno(), sys.__stderr__.fileno()  # type: ignore[union-attr]  # caught below
        kept = os.dup(stdout)
    except (AttributeError, OSError, ValueError):
        # none is open
        yield
        return
    sys.__stdout__.flush()  # type: ignore[union-attr]  # it has a descriptor
    os.dup2(stderr, stdout)
    try:
        yield
    finally:
        os.dup2(kept, stdout)
        os.close(kept)
