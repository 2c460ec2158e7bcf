"""Inner loops in C, for rooms that say so. Everything here is also said in Python, and that is the definition.

    keeps_colons          canon.json
    word_result           profiles.mcp_results
    Judge                 contract.judge
    step                  pipeline.prime
    sha256                canon.digest; like the rest only where the processor has instructions for it
    write_call            audit.event

The module `_speed` is made where the package is installed, if there is a C compiler; `speed` is None where there was none,
and everything works without it, more slowly. Tests hold the two ways against each other.
"""

from __future__ import annotations

try:
    from strictwire.native import _speed as speed
except ImportError:
    speed = None  # type: ignore[assignment]

__all__ = ["speed"]
