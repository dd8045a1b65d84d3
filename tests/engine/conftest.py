"""An app with a store of its own, and what its runs left on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from genkit_eval import GenkitEval


@pytest.fixture
def ge(tmp_path: Path) -> GenkitEval:
    return GenkitEval(root=tmp_path / ".genkit")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)
