"""The table of list prices, made from two that others keep: what both say counts, what only one says is not known.

make prices     writes it anew, from the newest of both
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["TABLE", "agreed"]

TABLE = Path(__file__).parents[1] / "genkit_eval" / "prices.json"
SERVERS = {
    "api.anthropic.com": "anthropic",
    "api.deepseek.com": "deepseek",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral",
    "api.openai.com": "openai",
    "api.together.xyz": "together",
    "api.x.ai": "xai",
    "generativelanguage.googleapis.com": "google",
}
GENAI = {"xai": "x-ai"}
LITELLM = {"google": "gemini", "together": "together_ai"}
"""What a provider is called there, where that is something else."""
FREE = {"local/*": {"input": 0, "output": 0}}
BESIDE = {"web_searches_kcount", "storage_searches_kcount", "cache_write_1h_mtok"}
"""Prices of what nobody asks for here; whatever else has one besides tokens makes a model's price unknown."""
TOKENS = {"input": "input_mtok", "cached": "cache_read_mtok", "written": "cache_write_mtok", "output": "output_mtok"}
LITELLM_TOKENS = {
    "input": "input_cost_per_token",
    "cached": "cache_read_input_token_cost",
    "written": "cache_creation_input_token_cost",
    "output": "output_cost_per_token",
}
ABOVE = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
SPECIAL = re.compile(r"^ft:|audio|computer-use|guard|robotics|search|voxtral")
"""Models that are tuned by their users, hear, act or search, which costs more than tokens."""
DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")
Price = dict[str, Decimal | int]


def agreed(genai: Any, litellm: Mapping[str, Any], today: date) -> dict[str, Price]:
    """The prices on which both agree, by "provider/model"."""
    found: dict[str, Price] = {}
    for provider in sorted(SERVERS.values()):
        models = next(item.models for item in genai if item.id == GENAI.get(provider, provider))
        for name, entry in _entries(litellm, LITELLM.get(provider, provider)):
            one, other = _litellm(entry), _genai(models, name, today)
            if one is None or other is None or not _alike(one, other):
                continue
            ends = [price.pop("up_to") for price in (one, other) if "up_to" in price]
            found[f"{provider}/{name}"] = one | ({"up_to": min(ends)} if ends else {})
    # a date is looked for without it anyway
    return {name: price for name, price in found.items() if found.get(DATED.sub("", name)) != price or _plain(name)}


def _plain(name: str) -> bool:
    return DATED.search(name) is None


def _entries(litellm: Mapping[str, Any], provider: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, entry in sorted(litellm.items()):
        if entry.get("litellm_provider") == provider and entry.get("mode") in ("chat", "embedding"):
            own = name.removeprefix(f"{provider}/")
            if not SPECIAL.search(own):
                yield own, entry


def _litellm(entry: Mapping[str, Any]) -> Price | None:
    price = {name: Decimal(entry[key]) * 1_000_000 for name, key in LITELLM_TOKENS.items() if entry.get(key)}
    thought = entry.get("output_cost_per_reasoning_token", entry.get("output_cost_per_token"))
    if "input" not in price or "off_peak_pricing" in entry or thought != entry.get("output_cost_per_token"):
        return None
    ends = [int(match[1]) * 1_000 for key in entry if (match := ABOVE.fullmatch(key))]
    return {"output": Decimal(0), **price} | ({"up_to": min(ends)} if ends else {})


def _genai(models: Any, name: str, today: date) -> Price | None:
    model = next((model for model in models if model.match.is_match(name)), None)
    prices = None if model is None else model.prices
    if isinstance(prices, list):
        begun = [item for item in prices if getattr(item.constraint, "start_date", today) <= today]
        if any(hasattr(item.constraint, "start_time") for item in prices):
            # it changes with the hour
            return None
        prices = begun[-1].prices
    if prices is None:
        return None
    given = {key: value for key, value in vars(prices).items() if value is not None}
    if "input_mtok" not in given or not set(given) <= {*TOKENS.values(), *BESIDE, *_of_sound(given)}:
        return None
    price = {name: Decimal(getattr(given[key], "base", given[key])) for name, key in TOKENS.items() if key in given}
    ends = [tier.start for key in TOKENS.values() for tier in getattr(given.get(key), "tiers", ())]
    return {"output": Decimal(0), **price} | ({"up_to": min(ends)} if ends else {})


def _of_sound(given: Mapping[str, Any]) -> set[str]:
    """Prices of what is heard and said: only texts and images are sent, and only texts come back."""
    return {key for key in given if "audio" in key}


def _alike(one: Price, other: Price) -> bool:
    return all(one.get(name) == other.get(name) for name in TOKENS)


def _line(name: str, price: Price) -> str:
    order = [key for key in ("input", "cached", "written", "output", "up_to") if key in price]
    values = {key: price[key] if key == "up_to" else _number(price[key]) for key in order}
    return f"    {json.dumps(name)}: {json.dumps(values)}"


def _number(dollars: Decimal | int) -> float | int:
    return int(dollars) if dollars == int(dollars) else float(dollars)


def _main() -> None:
    genai = import_module("genai_prices.data").providers
    spec = find_spec("litellm")
    assert spec is not None
    assert spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0]) / "model_prices_and_context_window_backup.json"
    litellm = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    today = datetime.now(UTC).date()
    note = (
        f"US dollars for a million tokens: list prices as of {today:%B %Y}, without discounts, on which "
        f"genai-prices {version('genai-prices')} and litellm {version('litellm')} agree"
    )
    lines = ",\n".join(_line(*item) for item in (agreed(genai, litellm, today) | FREE).items())
    servers = json.dumps(SERVERS, indent=2).replace("\n", "\n  ")
    text = f'{{\n  "note": {json.dumps(note)},\n  "servers": {servers},\n  "models": {{\n{lines}\n  }}\n}}\n'
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _main()
