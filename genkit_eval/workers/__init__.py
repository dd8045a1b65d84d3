"""Worker processes for what a thread could not be stopped from running: JSONata, and patterns too costly to trust."""

from __future__ import annotations

from genkit_eval.workers.pool import POOL, WorkerPool

__all__ = ["POOL", "WorkerPool"]
