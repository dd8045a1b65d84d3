"""A case that has every part that a judge may look at, each with a text that names it."""

from __future__ import annotations

from typing import Any

__all__ = ["CASE"]

CASE: dict[str, Any] = {
    "input": "Part:request.",
    "output": "Part:response [1].",
    "reference": "Part:reference.",
    "context": ["Part:context."],
    "plan": ["Part:plan."],
    "instructions": ["Part:instructions."],
    "goal": "Part:goal.",
    "system_prompt": "Part:system_prompt.",
    "tools": [{"name": "t", "arguments": {"a": "Part:tools."}, "output": "Part:tools."}],
    "tool_catalog": [{"name": "t", "description": "Part:tool_catalog."}],
    "turns": [{"role": role, "content": "Part:turns."} for role in ("user", "assistant") * 2],
    "custom": {"note": "Part:custom."},
    "tags": ["Part:tags."],
    "user_id": "Part:user_id.",
    "session_id": "Part:session_id.",
    "expected_tools": [{"name": "Part:expected_tools."}],
}
