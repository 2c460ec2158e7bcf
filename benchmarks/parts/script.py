"""Parts that are separate programs: runs them and stores their output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from benchmarks.results import Goal, PartResult

FOLDER: Final = Path(__file__).parent.parent
SECONDS: Final = 900.0


def exists(part: str) -> bool:
    """Whether the program exists."""
    return (FOLDER / f"{part}.py").exists()


def run(part: str) -> PartResult:
    """Run a program. Its exit code says whether it reached its goals."""
    command = [sys.executable, "-m", f"benchmarks.{part}"]
    try:
        ended = subprocess.run(
            command, cwd=FOLDER.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        goal = Goal(
            text=f"`{part}`: its own goals", wanted="exit code 0", found=f"not finished in {SECONDS:.0f} s", reached=None
        )
        return PartResult(part=part, goals=[goal])
    text = ended.stdout.decode(errors="replace")
    sys.stderr.write(text)
    goal = Goal(
        text=f"`{part}`: its own goals", wanted="exit code 0", found=str(ended.returncode), reached=ended.returncode == 0
    )
    return PartResult(part=part, text=text, goals=[goal])
