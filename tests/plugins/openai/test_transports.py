"""The two transports of the SDK: aiohttp's where it is installed, else its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from genkit_eval.testing import OpenAIServer

ASK = """
import sys
if sys.argv[2] == "without":
    # as if it were not installed
    sys.modules["aiohttp"] = None
from genkit_eval import Message, Registry, run_sync
from genkit_eval_openai import openai_models
registry = Registry()
registry.install(openai_models("x", base_url=sys.argv[1]))
reply = run_sync(registry.model("x/m").generate([Message(role="user", content="Is it blue?")]))
print(reply.text, "aiohttp.client" in sys.modules)
"""


@pytest.mark.parametrize(("aiohttp", "used"), [("with", True), ("without", False)])
def test_a_model_is_asked_over_either(aiohttp: str, used: bool) -> None:
    with OpenAIServer("Blue.") as server:
        command = [sys.executable, "-c", ASK, server.url, aiohttp]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.stderr == ""
    assert done.stdout == f"Blue. {used}\n"
