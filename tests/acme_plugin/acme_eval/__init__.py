"""ACME's evaluators: one factory, which gives the plugin."""

from __future__ import annotations

from pydantic import BaseModel, Field

from genkit_eval import DataPoint, Plugin, Registry, Score

__all__ = ["Brevity", "acme_metrics", "brevity"]


class Brevity(BaseModel):
    """Options of `acme/brevity`."""

    max_words: int = Field(default=20, ge=1, description="The longest answer that passes.")


def brevity(point: DataPoint, options: Brevity) -> Score:
    """Share of the allowed words that an answer leaves unused, 0 to 1, higher is better."""
    words = len(str(point.output).split())
    spare = max(0.0, 1 - words / options.max_words)
    reason = f"{words} of at most {options.max_words} words"
    return Score.passed(spare, reason=reason) if words <= options.max_words else Score.failed(spare, reason=reason)


def acme_metrics() -> Plugin:
    """The plugin: give it to `GenkitEval(plugins=[…])`, or let the command line find it."""
    return Plugin("acme", _setup, description="Evaluators that ACME's teams share")


def _setup(registry: Registry) -> None:
    registry.define_evaluator(
        "acme/brevity",
        brevity,
        requires=("output",),
        kind="deterministic",
        version="1",
        low=0,
        high=1,
        display_name="Brevity",
        definition="Short answers pass; the score is the share of allowed words left.",
    )
