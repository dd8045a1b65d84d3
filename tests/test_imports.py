"""What an import loads: start-up stays near that of the libraries that are really needed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SLOW = {
    "asyncio", "deepdiff", "filelock", "httpx2", "json_repair", "jsonata", "jsonschema", "numpy", "openai", "orjson",
    "phonenumbers", "regex", "rich", "scipy", "yaml",
}  # fmt: skip


def loaded_by(*arguments: str) -> set[str]:
    """The top-level modules that a fresh interpreter loads, by its own account."""
    # measuring coverage in the child would load modules of its own
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True, env=environment
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines[1:]}


@pytest.fixture(scope="module")
def at_start() -> set[str]:
    """What every interpreter of this environment loads before the program begins."""
    return loaded_by("-c", "pass")


def test_the_package_alone_loads_next_to_nothing(at_start: set[str]) -> None:
    loaded = loaded_by("-c", "import genkit_eval") - at_start

    assert "genkit_eval" in loaded
    assert loaded & (SLOW | {"pydantic", "anyio", "click"}) == set()


def test_the_names_of_an_app_load_pydantic_and_nothing_slow(at_start: set[str]) -> None:
    loaded = loaded_by("-c", "from genkit_eval import DataPoint, GenkitEval, Score") - at_start

    assert "pydantic" in loaded
    assert loaded & (SLOW | {"click"}) == set()


@pytest.mark.case("cli-ci/help-without-network")
def test_help_of_the_command_line_loads_nothing_slow(at_start: set[str]) -> None:
    loaded = loaded_by("-m", "genkit_eval", "--help") - at_start

    assert "click" in loaded
    assert loaded & (SLOW | {"pydantic", "anyio"}) == set()


def test_the_metrics_plugin_loads_its_engines_only_when_they_are_used(at_start: set[str]) -> None:
    loaded = loaded_by("-c", "import genkit_eval_metrics") - at_start

    assert loaded & {"deepdiff", "jsonata", "openai", "numpy", "scipy"} == set()


def test_judges_load_what_mends_replies_and_reads_prompts_only_when_they_need_it(at_start: set[str]) -> None:
    loaded = loaded_by("-c", "import genkit_eval.claims") - at_start

    assert "pydantic" in loaded
    assert loaded & (SLOW | {"click"}) == set()


def test_the_engine_loads_what_speaks_http_only_for_an_endpoint(at_start: set[str]) -> None:
    loaded = loaded_by("-c", "from genkit_eval import HttpTarget, Limits; HttpTarget('http://127.0.0.1/')") - at_start

    assert "genkit_eval" in loaded
    assert loaded & {"httpx2", "jsonata", "openai"} == set()
