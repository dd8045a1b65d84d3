"""Reports: runs as text, JSON and files for other tools. Pure functions over runs, results and summaries.

Its names are imported from its modules: those for text load nothing, those for runs load the engine.
"""

from __future__ import annotations

__all__: list[str] = []
