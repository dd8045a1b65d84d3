"""Options that say what a run calls, and how they become a target."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from genkit_eval.app import FROM_DATASET
from genkit_eval.cli.options import with_options
from genkit_eval.engine import CommandTarget, HttpTarget, ModelTarget, is_address
from genkit_eval.engine.targets.command_target import COMMAND
from genkit_eval.engine.targets.model_target import MODEL

__all__ = ["target_name", "target_of", "target_options"]

F = TypeVar("F", bound=Callable[..., Any])

_OF_ENDPOINTS = {
    "target_request": "--target-request",
    "target_response": "--target-response",
    "target_headers": "--target-header",
    "target_method": "--target-method",
}


def target_options(function: F) -> F:
    """`--target`, and what may be said about it."""
    options = [
        click.option(
            "-t",
            "--target",
            metavar="TARGET",
            help="The flow to call; or a model, /model/PROVIDER/NAME; or an endpoint, http://…; or a program, "
            "command:'./answer --option'. Default: the dataset's.",
        ),
        click.option(
            "--no-target",
            is_flag=True,
            help="Call nothing: judge the outputs that the samples bring. Default where some do, and no target is "
            "named.",
        ),
        click.option(
            "--target-config", metavar="JSON", help="Parameters of a model's calls; they go before those of a sample."
        ),
        click.option(
            "--target-request",
            metavar="JSONATA",
            help="What an endpoint is sent, made of the input ($), like '{\"question\": $}'. Default: the input.",
        ),
        click.option(
            "--target-response",
            metavar="JSONATA",
            help="The output, made of an endpoint's answer ($), like 'result.text'. Default: the answer.",
        ),
        click.option(
            "--target-header",
            "target_headers",
            multiple=True,
            metavar="HEADER",
            help="Sent to an endpoint, like 'Authorization: Bearer ${TOKEN}', with a variable of the environment. "
            "Repeatable.",
        ),
        click.option("--target-method", metavar="METHOD", help="POST, PUT, PATCH, GET or DELETE. [POST]"),
    ]
    return with_options(options, function)


def target_of(options: Mapping[str, Any]) -> Any:
    """The target that the options name; the dataset's own where they name none, None where nothing is called."""
    target = options["target"]
    if options["no_target"]:
        if target:
            raise click.UsageError("--target and --no-target exclude each other: give one")
        target = ""
    for name, option in _OF_ENDPOINTS.items():
        if options[name] and not is_address(target or ""):
            raise click.UsageError(f"{option} is for an endpoint: name one, like --target http://127.0.0.1:8000/answer")
    if options["target_config"] is not None:
        return _model(target or "", options["target_config"])
    if options["no_target"]:
        return None
    if not target:
        return FROM_DATASET
    if is_address(target):
        return _endpoint(target, options)
    return _command(target) if target.startswith(COMMAND) else target


def target_name(text: str) -> str:
    """What a target is stored and listed by; without more said, it is a flow's name."""
    whole = text.startswith(("/", COMMAND)) or is_address(text)
    return text if whole else f"/flow/{text}"


def _model(target: str, text: str) -> ModelTarget:
    if not target.startswith(MODEL):
        raise click.UsageError("--target-config is for a model: name one, like --target /model/openai/NAME")
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise click.UsageError(f"--target-config is no JSON: {problem}") from None
    return ModelTarget(target, config=config)


def _endpoint(url: str, options: Mapping[str, Any]) -> HttpTarget:
    return HttpTarget(
        url,
        request=options["target_request"],
        response=options["target_response"],
        headers=_headers(options["target_headers"]),
        method=(options["target_method"] or "POST").upper(),
    )


def _headers(given: Sequence[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for text in given:
        name, colon, value = text.partition(":")
        if not colon:
            # without what was given: it may be a secret
            raise click.UsageError("--target-header has no colon: expected 'Name: value'")
        if name.strip().lower() in map(str.lower, headers):
            raise click.UsageError(f"--target-header {name.strip()} is given twice: give its values in one")
        headers[name.strip()] = value.strip()
    return headers


def _command(target: str) -> CommandTarget:
    try:
        words = shlex.split(target.removeprefix(COMMAND))
    except ValueError as problem:
        raise click.UsageError(f"--target {target}: {problem}") from None
    if not words:
        raise click.UsageError("--target command: names no program: give one, like command:'./answer --option'")
    return CommandTarget(words)
