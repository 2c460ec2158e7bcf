"""What a plan says, as values. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

Command: TypeAlias = tuple[str, ...]
"""A program and its arguments; never a line for a shell."""


class Operation(StrEnum):
    """What can be done to a file."""

    CREATE = "create"
    MODIFY = "modify"
    MOVE = "move"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One step of a plan."""

    title: str
    id: str
    objective: str
    allowed: tuple[Operation, ...]
    forbidden: tuple[Operation, ...] = ()
    artifacts: tuple[str, ...] = ()
    """Files that must be there before the phase changes anything."""
    commands: tuple[Command, ...] = ()
    """Must succeed after each change of the phase."""
    outcomes: str
    stops: str
    """When whoever executes must stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ban:
    """Something no phase may do: an operation, everywhere or on some paths."""

    operation: Operation
    pattern: str = "**"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The whole plan."""

    title: str
    role: str
    """Who executes it."""
    author: str
    """The principal that made it, who may not approve it."""
    workspace: str
    """`scope.workspace_id` of the folder it is for."""
    created: str
    expires: str
    scope: str
    phases: tuple[Phase, ...]
    paths: tuple[str, ...]
    gates: tuple[Command, ...] = ()
    """Must succeed after each change of any phase."""
    bans: tuple[Ban, ...] = ()
    rollback: str
