"""What is worked out once for a file, however often it is placed: handles, added parts, and parents that form a cycle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from strictwire.packs.unity.yaml.objects import Structure

NO_HANDLES: Final[Mapping[int, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """See the module."""

    structure: Structure
    handles: Mapping[int, Mapping[int, int]]
    """Ids of stripped documents, by instance and by id in the source of the instance."""
    places: Mapping[int, int]
    """Where objects and components that were added to instances stand among their siblings, by id; -1 is the end."""
    unreachable: int
    """Objects whose parents form a cycle."""


def make_plan(structure: Structure) -> Plan:
    """The plan of a file."""
    handles: dict[int, dict[int, int]] = {}
    for file_id, stripped in structure.stripped.items():
        handles.setdefault(stripped.instance, {})[stripped.source] = file_id
    places = {
        each.file_id: each.index
        for instance in structure.instances.values()
        for each in (*instance.added_objects, *instance.added_components)
    }
    return Plan(structure=structure, handles=handles, places=places, unreachable=count_unreachable(structure))


def count_unreachable(structure: Structure) -> int:
    """Objects of the file that lead to no root when their parents are followed."""
    fathers = {file_id: each.father for file_id, each in structure.transforms.items()}
    for file_id, handle in structure.stripped.items():
        instance = structure.instances.get(handle.instance)
        fathers[file_id] = instance.parent if instance else 0
    ends: dict[int, bool] = {0: True}
    for file_id in fathers:
        trail, at = [], file_id
        while at not in ends:
            ends[at] = False  # until a root is met
            trail.append(at)
            at = fathers.get(at, 0)
        for each in trail if ends[at] else ():
            ends[each] = True
    return sum(1 for file_id in structure.transforms if not ends[file_id])
