"""Expands a scene or prefab into its tree, placing the prefabs that its instances name.

Each file is built from its structure: its own objects, its instances (built the same way, then changed by their
overrides), components added to instances, parents, roots. Ids are always those of the file being built. An object of a
nested prefab is lifted into it by its stripped document, or else by the nested-id rule.

A prefab of a few kilobytes can expand to millions of objects, so limits of objects, nesting and time bound the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from strictwire.packs.unity.hierarchy.link import link
from strictwire.packs.unity.hierarchy.nodes import Built, Node, freeze
from strictwire.packs.unity.hierarchy.overrides import add_component, apply_instance, make_stub
from strictwire.packs.unity.hierarchy.plan import NO_HANDLES, Plan, make_plan
from strictwire.packs.unity.hierarchy.sources import Obstacle, Source, Sources
from strictwire.packs.unity.hierarchy.tree import Findings, Frame, PlacedComponent, Tree
from strictwire.packs.unity.yaml.objects import Instance, Structure

MAX_OBJECTS: Final = 100_000
"""Objects of one tree. The largest scene of the open projects that were measured expands to 49,151."""

MAX_NESTING: Final = 32
"""Prefabs inside each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one expansion."""

    objects: int = MAX_OBJECTS
    """Past it no further instance is expanded; the objects of the file itself are always there."""
    is_late: Callable[[], bool] = lambda: False
    """Whether time is up. Asked before each instance."""


def build_tree(path: str, structure: Structure, sources: Sources, limits: Limits | None = None) -> Tree:
    """The tree of a file. What is incomplete about it is in its findings."""
    work = _Expansion(sources, limits or Limits())
    built = work.build(path, structure, None, ())
    findings = Findings(
        obstacles={obstacle: tuple(sorted(paths)) for obstacle, paths in sorted(work.obstacles.items())},
        problems=structure.problems,
        dangling=built.dangling,
        unreachable=built.unreachable,
        unplaced=built.unplaced,
        is_cut=work.is_cut,
        is_late=work.is_late,
    )
    roots, objects = freeze(built.roots)
    return Tree(path=path, roots=roots, findings=findings, objects=objects)


class _Expansion:
    """The state of one expansion."""

    def __init__(self, sources: Sources, limits: Limits) -> None:
        self._sources = sources
        self._limits = limits
        self._objects = 0
        self._plans: dict[str, Plan] = {}
        self.obstacles: dict[Obstacle, set[str]] = {}
        self.is_cut = False
        self.is_late = False

    def build(self, path: str, structure: Structure, frame: Frame | None, above: tuple[str, ...]) -> Built:
        """One file. `above` are the files it is nested in."""
        plan = self._plans.get(path)
        if plan is None:
            plan = self._plans[path] = make_plan(structure)
        built = Built()
        self._objects += len(structure.objects)
        _add_objects(built, path, structure, frame)
        for file_id, instance in structure.instances.items():
            inner = Frame(path, file_id, frame, plan.handles.get(file_id, NO_HANDLES))
            self._place(built, instance, inner, (*above, path))
        _add_components(built, path, plan, frame)
        link(built, plan)
        return built

    def _place(self, built: Built, instance: Instance, frame: Frame, above: tuple[str, ...]) -> None:
        """Build an instance and merge it into the file that holds it."""
        source = self._sources.find(instance.source.guid)
        obstacle, inner = self._find_obstacle(source, above), None
        if obstacle is None and source.structure is not None:
            inner = self.build(source.path, source.structure, frame, above)
            obstacle = None if inner.roots else Obstacle.UNREADABLE
        if inner is None or obstacle is not None:
            if obstacle is not Obstacle.CUT:
                self.obstacles.setdefault(obstacle or Obstacle.UNREADABLE, set()).add(source.path)
            inner = make_stub(source, instance, frame, obstacle or Obstacle.UNREADABLE)
            # Prefabs without objects of their own can nest doubly as well, and end in stubs.
            self._objects += 1
        apply_instance(inner, instance, frame)
        built.merge(inner, frame)

    def _find_obstacle(self, source: Source, above: tuple[str, ...]) -> Obstacle | None:
        if source.structure is None:
            return source.obstacle or Obstacle.UNREADABLE
        if source.path in above:
            return Obstacle.CYCLE
        if len(above) > MAX_NESTING:
            return Obstacle.TOO_DEEP
        self.is_late = self.is_late or self._limits.is_late()
        self.is_cut = self.is_cut or self._objects + len(source.structure.objects) > self._limits.objects
        return Obstacle.CUT if self.is_late or self.is_cut else None


def _add_objects(built: Built, path: str, structure: Structure, frame: Frame | None) -> None:
    components, transforms = structure.components, structure.transforms
    for file_id, found in structure.objects.items():
        placed = [PlacedComponent(path, each, components.get(each), frame) for each in found.components]
        transform_id = next((each for each in found.components if each in transforms), 0)
        node = Node(found.name, found.active, found.tag, found.layer, file_id, transform_id, placed)
        built.nodes.append(node)
        built.objects[file_id] = node
        if transform_id:
            built.transforms[transform_id] = node
        else:
            built.dangling += 1


def _add_components(built: Built, path: str, plan: Plan, frame: Frame | None) -> None:
    """Components that the file adds to objects of its instances."""
    structure = plan.structure
    if not structure.stripped:
        return
    for file_id, component in structure.components.items():
        owner = component.game_object
        if owner in structure.objects or not owner:
            continue
        node = built.objects.get(owner)
        if node is not None:
            add_component(node, PlacedComponent(path, file_id, component, frame), plan.places.get(file_id, -1))
        elif owner in structure.stripped:
            built.unplaced += 1
        else:
            built.dangling += 1
