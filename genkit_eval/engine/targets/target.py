"""What a run may call: a flow or a model by its name, an endpoint by its address, or what says more about itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from genkit_eval.definitions import Flow
from genkit_eval.engine.targets.command_target import COMMAND, CommandTarget
from genkit_eval.engine.targets.http_target import HttpTarget
from genkit_eval.engine.targets.model_target import MODEL, ModelTarget, model_target
from genkit_eval.errors import ConfigError
from genkit_eval.registry import Registry

__all__ = ["Target", "is_address", "recorded_target", "target_flow"]

# other schemes than ours, hosts with a port, files
_NO_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[A-Za-z0-9.-]+:[0-9]|\.{1,2}/|~/")

Target = str | CommandTarget | HttpTarget | ModelTarget


def target_flow(registry: Registry, target: Target | None) -> Flow | None:
    """The target as something to call; None where outputs are given.

    Raises:
        UnknownName: with the nearest name. ConfigError: it is nothing to call.
    """
    if target is None:
        return None
    if isinstance(target, HttpTarget | CommandTarget):
        return target.flow()
    if isinstance(target, ModelTarget):
        name = target.model.removeprefix(MODEL)
        return model_target(registry.model(name), name, target.config)
    if not isinstance(target, str):
        found = type(target).__name__
        raise ConfigError(f"the target is of type {found}: give a flow's name, like '/flow/name', or None")
    if is_address(target):
        return HttpTarget(target).flow()
    if target.startswith(COMMAND):
        # a name may come from data, which must start nothing
        raise ConfigError(f"target '{target}' is a command: give it yourself, as CommandTarget(['program', …])")
    if target.startswith(MODEL):
        return model_target(registry.model(target), target.removeprefix(MODEL))
    if target.startswith("/") and not target.startswith("/flow/"):
        raise ConfigError(
            f"target '{target}' cannot be run: expected a flow, like '/flow/name', a model, like "
            "'/model/provider/name', an endpoint, like 'http://127.0.0.1:8000/answer', or none"
        )
    if _NO_NAME.match(target):
        shown = target.partition("?")[0]
        raise ConfigError(
            f"target '{shown}' is no flow's name: an endpoint's begins with http:// or https://, and on the command "
            "line a command's with command:"
        )
    return registry.flow(target)


def is_address(target: str) -> bool:
    """Whether a target's name is the address of an endpoint."""
    return target[:8].lower().startswith(("http://", "https://"))


def recorded_target(name: str | None, config: Any) -> Target | None:
    """The target of a run, from what its key holds."""
    known = config if isinstance(config, Mapping) else {}
    if name is not None and name.startswith(COMMAND) and "command" in known:
        return CommandTarget(known["command"], folder=known.get("folder"))
    if name is not None and name.startswith(MODEL) and known:
        return ModelTarget(name, config=known)
    if name is None or not is_address(name):
        return name
    given = {field: known[field] for field in ("request", "response", "headers", "method") if field in known}
    return HttpTarget(name, **given)
