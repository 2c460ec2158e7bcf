"""Runs strictwire with a wall clock that can be set: `python shifted_clock.py FILE ARGUMENTS...`.

FILE holds the seconds to add to the time, and is read at every question.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

FILE = Path(sys.argv.pop(1))
REAL = time.time


def shifted() -> float:
    """The time of day, as if the clock had been set."""
    return REAL() + float(FILE.read_text() or 0)


if __name__ == "__main__":
    time.time = shifted  # before the first import of strictwire, which keeps references to it
    from strictwire.cli.main import main

    sys.exit(main())
