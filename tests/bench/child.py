"""Run one arm in this process and print its cost: `python -m tests.bench.child module:function '{"argument": 1}'`."""

from __future__ import annotations

import importlib
import json
import sys

from tests.bench.measure import report

__all__ = ["main"]


def main() -> None:
    """Call the function that the command line names."""
    module, _, function = sys.argv[1].partition(":")
    cost = getattr(importlib.import_module(module), function)(**json.loads(sys.argv[2]))
    print(report(cost), flush=True)


if __name__ == "__main__":
    main()
