"""What the command line is set to, and where each value comes from.

In order of precedence: an option, an environment variable `GENKIT_EVAL_…`, a configuration file, the default. The
file is `genkit-eval.toml`, or the table `[tool.genkit_eval]` of `pyproject.toml`, in the nearest folder upwards that
has one.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from genkit_eval.engine.asking.model_limits import read_model_limits
from genkit_eval.errors import ConfigError, UnknownName

__all__ = ["SETTINGS", "Setting", "Settings", "find_settings"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it comes from; None is "not set"."""

    value: str | float | None
    origin: str
    folder: Path | None = None
    """Where a configuration file lies: what it names is relative to it."""


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("text")
    return value


def _count(value: object) -> float:
    number = int(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError("a whole number from 1 up")
    return number


def _seconds(value: object) -> float:
    number = float(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number) or number < 0:
        raise ValueError("seconds from 0 up (0: no deadline)")
    return number


def _per_minute(value: object) -> float:
    number = float(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < math.inf:
        raise ValueError("a number above 0")
    return number


def _panel(value: object) -> str:
    if value not in ("majority", "mean"):
        raise ValueError("how a panel decides")
    return str(value)


def _model_limit(value: object) -> str:
    texts = value if isinstance(value, list) else [value]
    together = "; ".join(_text(text) for text in texts)
    read_model_limits(together)
    return together


@dataclass(frozen=True, slots=True)
class _Known:
    variable: str
    read: Callable[[object], str | float]
    expected: str


_KNOWN = {
    "app": _Known("GENKIT_EVAL_APP", _text, "text like 'app.py:ge'"),
    "root": _Known("GENKIT_EVAL_HOME", _text, "text, the path of a folder"),
    "judge": _Known("GENKIT_EVAL_JUDGE", _text, "text, the name of a model like 'openai/NAME'"),
    "embedder": _Known("GENKIT_EVAL_EMBEDDER", _text, "text, the name of an embedder like 'openai/NAME'"),
    "max_concurrency": _Known("GENKIT_EVAL_MAX_CONCURRENCY", _count, "a whole number from 1 up"),
    "model_limit": _Known(
        "GENKIT_EVAL_MODEL_LIMIT", _model_limit, "text like 'openai/NAME:concurrency=4', or a list of such texts"
    ),
    "panel": _Known("GENKIT_EVAL_PANEL", _panel, "'majority' or 'mean'"),
    "prices": _Known("GENKIT_EVAL_PRICES", _text, "text, the path of a JSON file of prices"),
    "requests_per_minute": _Known("GENKIT_EVAL_REQUESTS_PER_MINUTE", _per_minute, "a number above 0"),
    "timeout": _Known("GENKIT_EVAL_TIMEOUT", _seconds, "seconds from 0 up (0: no deadline)"),
    "tokens_per_minute": _Known("GENKIT_EVAL_TOKENS_PER_MINUTE", _per_minute, "a number above 0"),
}
SETTINGS = tuple(_KNOWN)
"""The names of all."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings by name: app, root, judge, embedder, prices, timeout, max_concurrency, requests_per_minute …"""

    values: Mapping[str, Setting]
    file: Path | None = None
    """The configuration file, if there is one."""
    _unset: Setting = field(default=Setting(None, "default"))

    def get(self, name: str) -> Setting:
        """A setting by name; not set, it is None from "default"."""
        return self.values.get(name, self._unset)

    @property
    def root(self) -> Path | None:
        """The root that was asked for; what a file names is relative to the file."""
        setting = self.get("root")
        if setting.value is None:
            return None
        path = Path(str(setting.value))
        # whoever looks for the root finds what "~" means, or says that it means nothing
        return path if setting.folder is None or path.parts[:1] == ("~",) else setting.folder / path

    @property
    def prices(self) -> Path | None:
        """The file of prices; where a configuration file names it, relative to that."""
        setting = self.get("prices")
        if setting.value is None:
            return None
        return (setting.folder or Path()) / str(setting.value)

    @property
    def max_concurrency(self) -> int | None:
        """Samples in flight."""
        value = self.get("max_concurrency").value
        return None if value is None else int(value)

    @property
    def requests_per_minute(self) -> float | None:
        """To each model."""
        return self._number("requests_per_minute")

    @property
    def tokens_per_minute(self) -> float | None:
        """To and from each model."""
        return self._number("tokens_per_minute")

    @property
    def model_limit(self) -> str | None:
        """Limits of some models, as `read_model_limits` reads them."""
        value = self.get("model_limit").value
        return None if value is None else str(value)

    @property
    def timeout(self) -> float | None:
        """Seconds for a call of target or evaluator; 0: no deadline."""
        return self._number("timeout")

    def _number(self, name: str) -> float | None:
        value = self.get(name).value
        return None if value is None else float(value)


def find_settings(
    options: Mapping[str, object], *, start: Path | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """Each setting from the first place that has it; `options` holds those of the command line, None for not given.

    Raises:
        ConfigError: a value that cannot be, a name that is no setting, a file that cannot be read; says where.
    """
    environment = os.environ if environment is None else environment
    path, table = _file_table(start or Path())
    for name in table:
        if name not in _KNOWN:
            raise ConfigError(f"{path}: {UnknownName('setting', name, _KNOWN)}")
    values = {}
    for name, known in _KNOWN.items():
        if options.get(name) is not None:
            values[name] = _setting(options[name], known, f"--{name.replace('_', '-')}")
        elif environment.get(known.variable):
            values[name] = _setting(environment[known.variable], known, known.variable)
        elif name in table and path is not None:
            values[name] = _setting(table[name], known, str(path), path.parent)
    return Settings(values, path)


def _setting(value: object, known: _Known, origin: str, folder: Path | None = None) -> Setting:
    try:
        return Setting(known.read(value), origin, folder)
    except ConfigError as problem:
        raise ConfigError(f"{origin}: {problem}") from None
    except ValueError:
        raise ConfigError(f"{origin} is {value!r}: expected {known.expected}") from None


def _file_table(start: Path) -> tuple[Path | None, Mapping[str, object]]:
    try:
        start = start.absolute()
    except FileNotFoundError:
        # the folder we are in was removed
        return None, {}
    for folder in (start, *start.parents):
        for name, keys in (("genkit-eval.toml", ()), ("pyproject.toml", ("tool", "genkit_eval"))):
            path = folder / name
            if path.is_file():
                table = _table(path, keys)
                if table is not None:
                    return path, table
        if (folder / ".git").exists():
            # what lies above the project is not about it
            break
    return None, {}


def _table(path: Path, keys: tuple[str, ...]) -> Mapping[str, object] | None:
    try:
        table: object = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as problem:
        raise ConfigError(f"{path} cannot be read: {problem}") from problem
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: [{'.'.join(keys)}] is no table")
    return table
