"""What calls cost: by the table that comes along, by the user's own prices, or not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from genkit_eval.errors import ConfigError
from genkit_eval.prices import Price, Prices, read_prices
from genkit_eval.types import Usage

USAGE = Usage(input_tokens=1_000_000, output_tokens=100_000)


def test_a_call_costs_its_tokens_times_their_prices() -> None:
    """One million at 2.50 dollars, and a tenth of a million at 10."""
    assert Prices().cost("openai/gpt-4o", USAGE) == pytest.approx(3.5)


def test_tokens_that_the_server_had_read_before_cost_less() -> None:
    """600,000 at 2.50 dollars a million, 400,000 at 1.25, and a tenth of a million at 10."""
    usage = Usage(input_tokens=1_000_000, cached_tokens=400_000, output_tokens=100_000)

    assert Prices().cost("openai/gpt-4o", usage) == pytest.approx(3.0)


def test_without_a_price_of_their_own_they_cost_as_all_others() -> None:
    usage = Usage(input_tokens=1_000_000, cached_tokens=400_000, output_tokens=0)

    assert Price(2.0, 8.0).of(usage) == pytest.approx(2.0)


@pytest.mark.parametrize("name", ["openai/gpt-4o-2024-08-06", "openai/gpt-4o-20240806"])
def test_a_dated_model_costs_as_the_one_without_a_date(name: str) -> None:
    assert Prices().of(name) == Prices().of("openai/gpt-4o")


@pytest.mark.parametrize(
    ("name", "price"),
    [
        ("openai/gpt-4o-2024-05-13", Price(5, 15)),
        ("openai/gpt-4o-2024-11-20", Price(2.5, 10, cached=1.25)),
        ("openai/gpt-3.5-turbo-1106", Price(1, 2)),
        ("openai/gpt-5.4-mini-2026-03-17", Price(0.75, 4.5, cached=0.075)),
        ("openai/gpt-6-luna", Price(0.1, 0.5, cached=0.01, written=0.125, up_to=272_000)),
        ("anthropic/claude-haiku-4-5-20251001", Price(1, 5, cached=0.1, written=1.25)),
        ("google/gemini-2.5-pro", Price(1.25, 10, cached=0.125, up_to=200_000)),
        ("mistral/mistral-large-2512", Price(0.5, 1.5, cached=0.05)),
    ],
)
def test_the_table_has_the_list_price_of_each_version(name: str, price: Price) -> None:
    assert Prices().of(name) == price


@pytest.mark.parametrize(
    "name",
    [
        "deepseek/deepseek-flash",
        "openai/gpt-4o-search-preview",
        "openai/gpt-5-search-api",
        "openai/gpt-audio",
        "openai/ft:gpt-4o-2024-08-06:acme",
    ],
)
def test_what_costs_more_than_tokens_or_something_else_by_the_hour_has_no_price(name: str) -> None:
    assert Prices().of(name) is None


def test_a_call_that_reads_more_than_a_price_is_for_has_no_price() -> None:
    price = Price(1, 0, up_to=1_000)

    assert price.of(Usage(input_tokens=1_000)) == pytest.approx(0.001)
    assert price.of(Usage(input_tokens=1_001)) is None


def test_what_several_calls_read_together_is_looked_at_by_the_call() -> None:
    price = Price(1, 0, up_to=1_000)

    assert price.of(Usage(input_tokens=2_500, model_calls=3)) == pytest.approx(0.0025)
    assert price.of(Usage(input_tokens=3_001, model_calls=3)) is None


def test_tokens_that_the_server_keeps_may_cost_more() -> None:
    """300 at 2 dollars a million, 200 at 1, 500 at 2.50."""
    usage = Usage(input_tokens=1_000, cached_tokens=200, written_tokens=500, output_tokens=0)

    assert Price(2, 8, cached=1, written=2.5).of(usage) == pytest.approx(0.00205)
    assert Price(2, 8, cached=1).of(usage) == pytest.approx(0.0018)


def test_an_embedder_writes_no_tokens() -> None:
    cost = Prices().cost("openai/text-embedding-3-small", Usage(input_tokens=1_000_000))

    assert cost == pytest.approx(0.02)


@pytest.mark.parametrize("name", ["openai/gpt-4o-audio", "gpt-4o", "azure/gpt-4o", "my-model", ""])
def test_a_price_that_nobody_knows_is_unknown(name: str) -> None:
    assert Prices().cost(name, USAGE) is None


@pytest.mark.case("api-fault/usage-missing")
@pytest.mark.parametrize("usage", [None, Usage(), Usage(input_tokens=5), Usage(output_tokens=5)])
def test_tokens_that_are_not_known_are_not_free(usage: Usage | None) -> None:
    assert Prices().cost("openai/gpt-4o", usage) is None


def test_what_runs_here_is_free_however_many_tokens_it_took() -> None:
    assert Prices().cost("local/gguf:model.gguf", None) == 0.0
    assert Prices().cost("local/gguf:model.gguf", USAGE) == 0.0
    assert Prices().cost("local/gguf:model.gguf", Usage(seconds=1.0)) == 0.0


def test_a_cost_that_the_model_names_itself_counts() -> None:
    assert Prices().cost("openai/gpt-4o", Usage(input_tokens=1, output_tokens=1, cost_usd=0.25)) == 0.25


@pytest.mark.parametrize(
    ("identity", "known"),
    [
        ("openai/gpt-4o at https://api.openai.com/v1", True),
        ("openai/gpt-4o at the default address", True),
        ("openai/gpt-4o at http://127.0.0.1:8080/v1", False),
        ("openai/gpt-4o at https://api.openai.com.example.org/v1", False),
        ("openai/gpt-4o at https://api.mistral.ai/v1", False),
    ],
)
def test_the_table_is_of_certain_servers(identity: str, known: bool) -> None:
    assert (Prices().of("openai/gpt-4o", identity) is not None) is known


@pytest.mark.parametrize("provider", ["openai", "mistral", "mine"])
def test_a_server_has_its_prices_whatever_the_user_calls_it(provider: str) -> None:
    name = f"{provider}/mistral-large-2512"

    assert Prices().of(name, f"{name} at https://api.mistral.ai/v1") == Prices().of("mistral/mistral-large-2512")


def test_own_prices_go_before_the_table_on_any_server() -> None:
    prices = Prices({"openai/gpt-4o": Price(1, 1), "azure/*": Price(2, 2), "azure/gpt-4o*": Price(3, 3)})

    assert prices.of("openai/gpt-4o", "openai/gpt-4o at http://127.0.0.1:8080/v1") == Price(1, 1)
    assert prices.of("azure/gpt-4o-mini") == Price(3, 3)
    assert prices.of("azure/other") == Price(2, 2)
    assert prices.of("openai/o3") == Prices().of("openai/o3")


def test_prices_in_a_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"azure/gpt-4o": {"input": 2.5, "cached": 1.25, "output": 10}}', encoding="utf-8")

    assert read_prices(path) == {"azure/gpt-4o": Price(2.5, 10, 1.25)}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"m": 3}',
        '{"m": {"input": 1}}',
        '{"m": {"input": 1, "output": 2, "per": 3}}',
        '{"m": {"input": -1, "output": 2}}',
        '{"m": {"input": "1", "output": 2}}',
        '{"m": {"input": true, "output": 2}}',
        '{"m": {"input": 1, "output": 2, "written": -1}}',
        '{"m": {"input": 1, "output": 2, "up_to": 0}}',
        '{"m": {"input": 1, "output": 2, "up_to": 1.5}}',
    ],
)
def test_a_file_that_holds_no_prices_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match=r"prices\.json: "):
        read_prices(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.json: the prices cannot be read"):
        read_prices(tmp_path / "none.json")


@pytest.mark.parametrize("given", [-1, float("nan"), float("inf"), "1", None, True])
def test_a_price_is_a_number_of_dollars(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"a price's output is .*: expected US dollars"):
        Price(1.0, given)
