"""Processes that others start."""

from __future__ import annotations

import os
import select

__all__ = ["wait_for_end"]


def wait_for_end(pid: int) -> bool:
    """Whether a process, which need not be a child of ours, has ended within half a minute."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 30)[0])
    finally:
        os.close(handle)
