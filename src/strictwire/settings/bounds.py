"""Range checks for numeric settings."""

from __future__ import annotations


def check_range(name: str, value: int, low: int, high: int) -> None:
    """Raise ValueError if the value is out of range."""
    if not low <= value <= high:
        raise ValueError(f"{name}: expected a number from {low} to {high}")
