"""`python -m genkit_eval`, and the `genkit-eval` command."""

from __future__ import annotations

import sys

from genkit_eval.cli.program import invoke

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(invoke(sys.argv[1:]))


if __name__ == "__main__":
    main()
