"""Settings of all tests."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# examples are drawn anew at each run on a laptop, and are the same ones in CI: a change never fails by luck there
settings.register_profile("laptop", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "laptop")


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What judges say in tests is not kept among what they say to the user."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENKIT_EVAL_CACHE", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def cache_of_the_test(cache_of_the_session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test hears what a server of another one said at the same port."""
    monkeypatch.setenv("GENKIT_EVAL_CACHE", str(cache_of_the_session / secrets.token_hex(8)))


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have a proxy of their own."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
