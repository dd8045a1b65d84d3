"""How the help of a verb is laid out: many options stand under headings, and no sentence is cut."""

from __future__ import annotations

from collections.abc import Iterable

import click

__all__ = ["VerbGroup", "write_options"]

_FEW = 15
"""So many options need no headings."""
_HEADINGS = {
    "Target": (
        "target",
        "no_target",
        "target_config",
        "target_request",
        "target_response",
        "target_headers",
        "target_method",
    ),
    "Samples": ("data", "source", "tags", "ids", "limit", "sample", "seed", "format"),
    "Evaluators": ("metrics", "evaluators", "route", "route_judge", "repeats", "judge_repeats"),
    "Judges": ("judge", "panel", "embedder", "no_cache", "cache_only"),
    "App": ("app", "root"),
    "Speed and failures": (
        "max_concurrency",
        "timeout",
        "target_timeout",
        "evaluator_timeout",
        "sample_timeout",
        "max_failures",
        "batchsize",
    ),
    "Calls of models": (
        "call_timeout",
        "retry_timeout",
        "retries",
        "requests_per_minute",
        "tokens_per_minute",
        "model_limit",
    ),
    "Spending": ("budget_usd", "budget_tokens", "budget_calls", "budget_seconds", "yes", "force", "probe"),
    "Report": ("bounds", "max_failed", "output", "output_format"),
}
_OTHERS = "Others"


class VerbGroup(click.Group):
    """A group whose help says of each verb the whole first sentence."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with what they do."""
        verbs = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.get_short_help_str(limit=200)) for name, verb in verbs.items() if verb])


def write_options(params: Iterable[click.Parameter], ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """The options of a verb; those of one that has many under headings."""
    options = [param for param in params if isinstance(param, click.Option)]
    records = {param.name: record for param in options if (record := param.get_help_record(ctx)) is not None}
    headings = {name: heading for heading, names in _HEADINGS.items() for name in names}
    rows: dict[str, list[tuple[str, str]]] = {heading: [] for heading in (*_HEADINGS, _OTHERS)}
    for name, record in records.items():
        rows[headings.get(name or "", _OTHERS)].append(record)
    if len(records) <= _FEW:
        rows = {"Options": list(records.values())}
    for heading, group in rows.items():
        if group:
            with formatter.section(heading):
                formatter.write_dl(group)
