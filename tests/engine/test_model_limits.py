"""Limits of models, as one writes them on a command line or in a file of settings."""

from __future__ import annotations

import pytest

from genkit_eval import ConfigError, ModelLimits
from genkit_eval.engine.asking.model_limits import read_model_limits


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("a/x:concurrency=4", {"a/x": ModelLimits(concurrency=4)}),
        (
            "a/x:concurrency=4, most_concurrency=8,requests_per_minute=1.5; b:tokens_per_minute=2e6;",
            {
                "a/x": ModelLimits(concurrency=4, most_concurrency=8, requests_per_minute=1.5),
                "b": ModelLimits(tokens_per_minute=2_000_000),
            },
        ),
        ("local/gguf:m.gguf:concurrency=1", {"local/gguf:m.gguf": ModelLimits(concurrency=1)}),
        (" ", {}),
    ],
)
def test_limits_are_read_by_model(text: str, limits: dict[str, ModelLimits]) -> None:
    assert read_model_limits(text) == limits


def test_what_a_model_does_not_say_is_as_for_all() -> None:
    common = ModelLimits(requests_per_minute=60, tokens_per_minute=9)

    found = read_model_limits("a/x:requests_per_minute=5", common=common)

    assert found == {"a/x": ModelLimits(requests_per_minute=5, tokens_per_minute=9)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a/x", "'a/x': expected MODEL:LIMIT=NUMBER, like openai/gpt-4o:concurrency=4"),
        ("a/x:concurrency", "'a/x:concurrency': expected MODEL:LIMIT=NUMBER"),
        (":concurrency=4", "':concurrency=4': expected MODEL:LIMIT=NUMBER"),
        ("b:concurrency=1; a/x:concurency=4", "'a/x:concurency=4': unknown limit 'concurency': did you mean"),
        ("a/x:concurrency=0", "'a/x:concurrency=0': concurrency of a model is 0: expected a whole number from 1 up"),
        ("a/x:concurrency=2.5", "concurrency of a model is 2.5: expected a whole number from 1 up"),
        ("a/x:concurrency=many", "concurrency is 'many': expected a number"),
        ("a/x:requests_per_minute=nan", "requests_per_minute of a model is nan: expected a number above 0"),
        ("a/x:concurrency=1,", "expected LIMIT=NUMBER at ''"),
        ("a/x:concurrency=1,concurrency=2", "concurrency is given twice"),
        ("a/x:concurrency=1; a/x:concurrency=1", "'a/x' is named twice"),
    ],
)
def test_the_part_that_is_wrong_is_named(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_model_limits(text)

    assert said in str(refused.value)
