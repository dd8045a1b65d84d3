"""`python -m genkit_eval`, and the `genkit-eval` command."""

from __future__ import annotations

import os
import signal
import sys

__all__ = ["main"]

INTERRUPTED = 130


def main() -> None:
    """Run the command line and leave with its exit code."""
    _leave_at_ctrl_c()
    # a quarter of a second, in which Ctrl-C would end in a traceback out of some import
    from genkit_eval.cli.program import invoke

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = invoke(sys.argv[1:])
    _leave_at_ctrl_c()
    sys.exit(code)


def _leave_at_ctrl_c() -> None:
    # who started us may have Ctrl-C ignored: then it stays so
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def _leave(*_: object) -> None:
    """Nothing has begun yet, or everything is done: there is nothing to keep."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
