"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# examples are drawn anew at each run on a laptop, and are the same ones in CI: a change never fails by luck there
settings.register_profile("laptop", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "laptop")
