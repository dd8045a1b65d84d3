"""What tests of flows and evaluators need: models and embedders that answer by script, and data points."""

from __future__ import annotations

from genkit_eval.testing.fakes import HashEmbedder, ModelCall, ScriptedModel, data_point

__all__ = ["HashEmbedder", "ModelCall", "ScriptedModel", "data_point"]
