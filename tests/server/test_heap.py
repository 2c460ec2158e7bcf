"""Large buffers go back to the system when they are freed."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from strictwire.server.heap import map_large_blocks

SCRIPT = """
import sys
from pathlib import Path
from strictwire.server.heap import map_large_blocks

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

if sys.argv[1] == "fixed":
    map_large_blocks()
large = bytes(30_000_000)
del large  # raises the threshold of glibc to this size, unless it is fixed
before, large, small = resident(), [], []
for _ in range(60):
    large.append(b"x" * 3_000_000)
    small.append(b"y" * 50_000)  # keeps the heap from shrinking
del large
print((resident() - before) // 1_000_000)
"""


def left_after(kind: str) -> int:
    """Megabytes that stay resident after 180 MB of buffers were freed."""
    return int(subprocess.run([sys.executable, "-c", SCRIPT, kind], capture_output=True, check=True, text=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="an option of glibc")
def test_freed_buffers_are_not_kept_between_small_objects() -> None:
    assert left_after("fixed") < 10
    assert left_after("grows") > 100, "glibc itself keeps them, or this would be needless"


def test_it_may_be_called_again() -> None:
    map_large_blocks()
    map_large_blocks()
