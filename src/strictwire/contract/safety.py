"""What a tool may do to its environment, and the MCP hints that say so.

The one definition of "may this tool be called without being asked for" (`is_callable_unasked`): the probe, `audit replay`,
the intent record, `docs`, `freeze` and `lint` use it. A tool that declares nothing is not callable unasked.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from strictwire.canon.json import JsonValue


class Safety(StrEnum):
    """The effects that a tool can have. An audit record is written before a call of any tool that is not `READ_ONLY`."""

    READ_ONLY = "read-only"
    MUTATING = "mutating"
    DESTRUCTIVE = "destructive"
    UNDECLARED = "undeclared"
    """The author says nothing. Treated as a tool that may change anything."""


_HINTS: Final[Mapping[Safety, Mapping[str, JsonValue]]] = MappingProxyType(
    {
        Safety.READ_ONLY: {"readOnlyHint": True, "destructiveHint": False},
        Safety.MUTATING: {"readOnlyHint": False, "destructiveHint": False},
        Safety.DESTRUCTIVE: {"readOnlyHint": False, "destructiveHint": True},
        # Without destructiveHint, for which MCP defines the default true: the hints of an undeclared tool claim nothing.
        Safety.UNDECLARED: {"readOnlyHint": False},
    }
)
"""The hints that `tools/list` shows for each level. `safety_of` is the inverse."""

_LEVELS: Final[Mapping[tuple[bool, bool | None], Safety]] = MappingProxyType(
    {
        (True, None): Safety.READ_ONLY,
        (True, False): Safety.READ_ONLY,
        (False, False): Safety.MUTATING,
        (False, True): Safety.DESTRUCTIVE,
    }
)
"""The level by readOnlyHint and destructiveHint."""

_KINDS: Final[Mapping[str, type]] = MappingProxyType(
    {"title": str, "readOnlyHint": bool, "destructiveHint": bool, "idempotentHint": bool, "openWorldHint": bool}
)
"""The annotations that MCP defines, and their types."""


class SafetyRefused(ValueError):
    """Safety level and annotations contradict each other, are incomplete or unknown. The message says what to write."""


def is_callable_unasked(safety: Safety) -> bool:
    """Whether a program may call the tool on its own initiative, as often as it likes."""
    return safety is Safety.READ_ONLY


def safety_of(annotations: Mapping[str, Any]) -> Safety:
    """The level that annotations amount to. Never fails: hints that are missing or contradictory declare nothing."""
    # MCP defines the default false for readOnlyHint.
    read_only, destructive = annotations.get("readOnlyHint") is True, annotations.get("destructiveHint")
    if not isinstance(destructive, bool) and destructive is not None:
        return Safety.UNDECLARED
    return _LEVELS.get((read_only, destructive), Safety.UNDECLARED)


def declare_safety(
    safety: Safety | str | None, annotations: Mapping[str, JsonValue]
) -> tuple[Safety, Mapping[str, JsonValue]]:
    """The level and the annotations of a tool, each completed from the other. Raises SafetyRefused."""
    _check_annotations(annotations)
    if safety is None:
        level = _level_of_hints(annotations)
    else:
        level = parse_safety(safety)
        _check_agreement(level, annotations)
    return level, MappingProxyType({**_HINTS[level], **annotations})


def parse_safety(value: object) -> Safety:
    """The level of that name. Raises SafetyRefused: there is no such level."""
    if isinstance(value, str) and value in list(Safety):
        return Safety(value)
    raise SafetyRefused(f"safety {value!r} is unknown; use one of {', '.join(Safety)}")


def _check_annotations(annotations: Mapping[str, JsonValue]) -> None:
    for name, value in annotations.items():
        kind = _KINDS.get(name)
        if kind is None:
            near = difflib.get_close_matches(name, _KINDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"MCP defines {', '.join(_KINDS)}"
            raise SafetyRefused(f"annotation {name!r} is unknown; {hint} (other facts belong in `meta`)")
        if type(value) is not kind:
            raise SafetyRefused(f"annotation {name!r} is {value!r}; use a {kind.__name__}")


def _level_of_hints(annotations: Mapping[str, JsonValue]) -> Safety:
    """The level that an author declares by hints alone. Raises SafetyRefused: they are partial or contradictory."""
    read_only, destructive = annotations.get("readOnlyHint"), annotations.get("destructiveHint")
    if read_only and destructive:
        raise SafetyRefused("readOnlyHint and destructiveHint are both true; a tool that destroys is not read-only")
    if read_only is None and not {"destructiveHint", "idempotentHint"}.isdisjoint(annotations):
        given = next(name for name in ("destructiveHint", "idempotentHint") if name in annotations)
        raise SafetyRefused(f"{given} is given without readOnlyHint; add readOnlyHint, or use safety=")
    if read_only is False and destructive is None:
        raise SafetyRefused("readOnlyHint is false without destructiveHint; add destructiveHint, or use safety=")
    return safety_of(annotations)


def _check_agreement(level: Safety, annotations: Mapping[str, JsonValue]) -> None:
    for name, value in _HINTS[level].items():
        if annotations.get(name, value) != value:
            raise SafetyRefused(
                f"safety is {level.value}, but {name} is {str(annotations[name]).lower()}; remove one of them"
            )
