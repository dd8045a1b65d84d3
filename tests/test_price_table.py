"""The table of prices holds what both of its sources say, and nothing that a price here cannot say."""

from __future__ import annotations

import json
from datetime import date, time
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from tests.price_table import SERVERS, TABLE, agreed

TODAY = date(2026, 11, 30)


def entry(cost: str, **more: Any) -> dict[str, Any]:
    return {
        "litellm_provider": "openai",
        "mode": "chat",
        "input_cost_per_token": Decimal(cost),
        "output_cost_per_token": Decimal(cost) * 4,
        **more,
    }


def model(name: str, prices: Any) -> SimpleNamespace:
    return SimpleNamespace(match=SimpleNamespace(is_match=lambda asked: asked == name), prices=prices)


def price(dollars: str, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(input_mtok=Decimal(dollars), output_mtok=Decimal(dollars) * 4, **more)


def both(one: dict[str, Any], *others: SimpleNamespace) -> dict[str, Any]:
    names = {"xai": "x-ai"}
    genai = [SimpleNamespace(id=names.get(name, name), models=[]) for name in SERVERS.values()]
    next(provider for provider in genai if provider.id == "openai").models = list(others)
    return dict(agreed(genai, one, TODAY))


def test_a_price_on_which_both_agree_is_known() -> None:
    found = both({"m": entry("2.5e-6")}, model("m", price("2.5")))

    assert found == {"openai/m": {"input": Decimal("2.5"), "output": Decimal(10)}}


def test_a_price_on_which_they_do_not_agree_is_not() -> None:
    assert both({"m": entry("2.5e-6")}, model("m", price("2"))) == {}
    assert both({"m": entry("2.5e-6")}, model("m", price("2.5", cache_read_mtok=Decimal(1)))) == {}
    assert both({"m": entry("2.5e-6")}) == {}


def test_a_price_for_shorter_inputs_says_how_far_it_goes() -> None:
    longer = entry("1e-6", input_cost_per_token_above_200k_tokens=Decimal("2e-6"))
    tiers = SimpleNamespace(base=Decimal(1), tiers=[SimpleNamespace(start=199_999)])

    assert both({"m": longer}, model("m", price("1")))["openai/m"]["up_to"] == 200_000
    found = both({"m": longer}, model("m", SimpleNamespace(input_mtok=tiers, output_mtok=Decimal(4))))
    assert found["openai/m"]["up_to"] == 199_999


def test_the_price_of_today_counts() -> None:
    changes = [
        SimpleNamespace(constraint=None, prices=price("3")),
        SimpleNamespace(constraint=SimpleNamespace(start_date=date(2026, 9, 1)), prices=price("2")),
        SimpleNamespace(constraint=SimpleNamespace(start_date=date(2026, 12, 1)), prices=price("1")),
    ]

    assert both({"m": entry("2e-6")}, model("m", changes))["openai/m"]["input"] == 2


def test_what_changes_with_the_hour_or_costs_more_than_tokens_has_no_price() -> None:
    night = SimpleNamespace(constraint=SimpleNamespace(start_time=time(1), end_time=time(4)), prices=price("2"))
    usual = SimpleNamespace(constraint=None, prices=price("1"))

    assert both({"m": entry("1e-6")}, model("m", [usual, night])) == {}
    assert both({"m": entry("1e-6")}, model("m", price("1", requests_kcount=Decimal(5)))) == {}
    assert both({"m": entry("1e-6", off_peak_pricing={})}, model("m", price("1"))) == {}
    assert both({"m-search": entry("1e-6")}, model("m-search", price("1"))) == {}


def test_a_version_stands_there_only_where_its_price_is_another() -> None:
    versions = {"m": entry("1e-6"), "m-2026-01-01": entry("1e-6"), "m-20250101": entry("3e-6")}

    found = both(versions, model("m", price("1")), model("m-2026-01-01", price("1")), model("m-20250101", price("3")))

    assert set(found) == {"openai/m", "openai/m-20250101"}


def test_every_price_is_of_a_server_that_is_known() -> None:
    table = json.loads(TABLE.read_text(encoding="utf-8"))

    assert table["servers"] == SERVERS
    assert {name.partition("/")[0] for name in table["models"]} <= {*SERVERS.values(), "local"}
