"""Numbers of the settings and what they may be."""

from __future__ import annotations


def check_range(name: str, value: int, low: int, high: int) -> None:
    """Raises ValueError: out of range."""
    if not low <= value <= high:
        raise ValueError(f"{name}: expected a number from {low} to {high}")
