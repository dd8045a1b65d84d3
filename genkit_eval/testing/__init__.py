"""What tests of flows and evaluators need: models and embedders that answer by script, data points, a local server."""

from __future__ import annotations

from genkit_eval.testing.answers import (
    USAGE,
    Answer,
    Call,
    chat_answer,
    embeddings_answer,
    error_answer,
    html_answer,
)
from genkit_eval.testing.fakes import HashEmbedder, ModelCall, ScriptedModel, data_point
from genkit_eval.testing.faults import FAULTS, MIXED, rate_limited, with_faults
from genkit_eval.testing.forms import in_form
from genkit_eval.testing.process import ServerProcess
from genkit_eval.testing.server import OpenAIServer

__all__ = [
    "FAULTS",
    "MIXED",
    "USAGE",
    "Answer",
    "Call",
    "HashEmbedder",
    "ModelCall",
    "OpenAIServer",
    "ScriptedModel",
    "ServerProcess",
    "chat_answer",
    "data_point",
    "embeddings_answer",
    "error_answer",
    "html_answer",
    "in_form",
    "rate_limited",
    "with_faults",
]
