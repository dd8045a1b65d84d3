"""The app `ge`: the judges of the plugin, and a model of yours that judges.

Which one is said by the environment, and there is no default:

    JUDGE_A_CHAT_MODEL   "openai/NAME", with OPENAI_BASE_URL and OPENAI_API_KEY; several, with commas between them, are
                         a panel; "scripted" says what stands in replies.yaml, to look at the sample without a model
"""

from __future__ import annotations

import os

from scripted import reply

from genkit_eval import ConfigError, GenkitEval, Plugin, Registry
from genkit_eval.testing import ScriptedModel
from genkit_eval_judges import judges
from genkit_eval_openai import openai_models

__all__ = ["ge"]


def _models() -> list[str]:
    names = [name.strip() for name in os.environ.get("JUDGE_A_CHAT_MODEL", "").split(",") if name.strip()]
    if not names:
        raise ConfigError(
            "JUDGE_A_CHAT_MODEL is not set: name a model, 'openai/NAME' with OPENAI_BASE_URL (and OPENAI_API_KEY if "
            "the server wants one), several with commas between them, or 'scripted'"
        )
    return ["sample/scripted" if name == "scripted" else name for name in names]


def _scripted(registry: Registry) -> None:
    registry.define_models("sample", {"scripted": ScriptedModel(reply, name="sample/scripted")})


ge = GenkitEval(
    plugins=[
        openai_models(),
        Plugin("sample", _scripted, "A judge that speaks by a script"),
        judges(judge=_models(), judge_config={"temperature": 0}),
    ]
)
