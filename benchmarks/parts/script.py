"""Parts that are programs of their own: they are run, and what they print is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from benchmarks.results import Found, Goal

FOLDER: Final = Path(__file__).parent.parent
SECONDS: Final = 900.0


def exists(part: str) -> bool:
    """Whether there is such a program."""
    return (FOLDER / f"{part}.py").exists()


def run(part: str) -> Found:
    """Run it. Its exit code says whether it reached its own figures."""
    command = [sys.executable, "-m", f"benchmarks.{part}"]
    try:
        ended = subprocess.run(
            command, cwd=FOLDER.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        goal = Goal(
            text=f"`{part}`: its own figures", wanted="exit code 0", found=f"not done in {SECONDS:.0f} s", reached=None
        )
        return Found(part=part, goals=[goal])
    text = ended.stdout.decode(errors="replace")
    sys.stderr.write(text)
    goal = Goal(
        text=f"`{part}`: its own figures", wanted="exit code 0", found=str(ended.returncode), reached=ended.returncode == 0
    )
    return Found(part=part, text=text, goals=[goal])
