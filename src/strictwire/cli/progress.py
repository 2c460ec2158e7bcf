"""A progress counter on the terminal."""

from __future__ import annotations

import sys


def show_progress(done: int, total: int) -> None:
    """Show a counter on stderr if it is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{done}/{total}", end="" if done < total else "\r\x1b[K", file=sys.stderr, flush=True)
