"""The path of an error of the validation engine, with the names that the value really has.

The engine reports a member whose name reads as a number, such as "1", "01" or "+1", as that number, and leaves out a member
with an empty name. The real path is only known from the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

Steps: TypeAlias = tuple[str | int, ...]


def steps_of(error: Any, value: Any) -> Steps:
    """The path of the error in the value. If several are reported alike: that of the part which is in the error."""
    places = list(_places(value, error.instance_path))
    if len(places) == 1:
        return places[0][0]
    same = (steps for steps, part in places if part == error.instance)
    return next(same, tuple(error.instance_path))


def _places(value: Any, path: Sequence[str | int]) -> Iterator[tuple[Steps, Any]]:
    """Every path in the value that the engine reports as this one, with the part that it leads to."""
    if not path:
        yield (), value
    for name, rest in _next_steps(value, path):
        for steps, part in _places(value[name], rest):
            yield (name, *steps), part


def _next_steps(value: Any, path: Sequence[str | int]) -> Iterator[tuple[str | int, Sequence[str | int]]]:
    """The members that may come next, each with the rest of the path."""
    if isinstance(value, dict):
        if path:
            yield from ((name, path[1:]) for name in value if _is_reported_as(name, path[0]))
        if "" in value:
            yield "", path
    elif path and isinstance(value, list | tuple):
        yield path[0], path[1:]


def _is_reported_as(name: str, step: str | int) -> bool:
    if isinstance(step, str):
        return name == step
    digits = name.removeprefix("+")
    return digits != "" and digits.lstrip("0") == str(step).lstrip("0")
