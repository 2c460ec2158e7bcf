"""Edits scenes of a generated project and says which changes a semantic diff must report: exactly these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final, NamedTuple

from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_model import (
    Child,
    Component,
    Instance,
    Node,
    Override,
    Prefab,
    Scene,
    expand_scene,
    expand_source,
    nested_id,
)
from tests.packs.unity.writer_random import Maker
from tests.packs.unity.writer_yaml import number_text


class Expected(NamedTuple):
    """A change without file ids."""

    action: str
    part: str
    object: str
    component: str = ""
    property: str = ""
    before: str | None = None
    after: str | None = None


def walk(children: tuple[Child, ...]) -> Iterator[Child]:
    """Every node and instance that is written in the file."""
    for child in children:
        yield child
        if isinstance(child, Node):
            yield from walk(child.children)
        else:
            yield from walk(tuple(added for _, added in child.added_objects))


def rebuild(children: tuple[Child, ...], change: Callable[[Child], tuple[Child, ...]]) -> tuple[Child, ...]:
    """The same forest with every member replaced by what `change` gives for it."""
    made: list[Child] = []
    for child in children:
        for each in change(child):
            if isinstance(each, Node):
                made.append(replace(each, children=rebuild(each.children, change)))
            else:
                added = tuple((target, new) for target, old in each.added_objects for new in rebuild((old,), change))
                made.append(replace(each, added_objects=added))
    return tuple(made)


@dataclass(slots=True)
class Edit:
    """A scene before and after, and what was done to it. Every object is touched at most once."""

    builder: ProjectBuilder
    maker: Maker
    before: Scene
    after: Scene
    touched: set[int] = field(default_factory=set)
    pending: list[tuple[str, str, int, tuple[str, str, str | None, str | None]]] = field(default_factory=list)
    """Action, part, id of the object, then component, property, before and after."""

    @property
    def rng(self) -> Random:
        """The random numbers of the builder."""
        return self.builder.rng

    def pick(self, kind: type, fits: Callable[[Child], bool] = lambda _child: True) -> Child | None:
        """An object of the file that was not touched."""
        found = [each for each in walk(self.after.roots) if isinstance(each, kind) and each.file_id not in self.touched]
        found = [each for each in found if fits(each)]
        if not found:
            return None
        chosen = self.rng.choice(found)
        self.touched.add(chosen.file_id)
        return chosen

    def swap(self, old: Child, new: Child) -> None:
        """Put one object in the place of another."""
        self.after = replace(self.after, roots=rebuild(self.after.roots, lambda each: (new,) if each is old else (each,)))

    def note(self, action: str, part: str, file_id: int, *more: str | None) -> None:
        """A change to expect; `more` is component, property, before and after."""
        component, name, before, after = (*more, *("", "", None, None)[len(more) :])
        self.pending.append((action, part, file_id, (component, name, before, after)))

    def expected(self, after: ProjectBuilder) -> Counter[Expected]:
        """The changes with the paths that the objects have."""
        old, new = _paths(self.builder, self.before), _paths(after, self.after)
        made: Counter[Expected] = Counter()
        for action, part, file_id, more in self.pending:
            component, name, was, now = more
            if action == "moved":
                was, now = old[int(was)] if was else "", new[int(now)] if now else ""
            path = old[file_id] if action == "removed" and part != "override" and file_id not in new else new[file_id]
            made[Expected(action, part, path, component, name, was, now)] += 1
        return made


def _paths(builder: ProjectBuilder, scene: Scene) -> dict[int, str]:
    """Path by id, and for an instance by the id of the instance as well."""
    found = {}
    for root in expand_scene(scene, builder.prefabs):
        for path, node in root.walk():
            found[node.file_id] = path
    for child in walk(scene.roots):
        if isinstance(child, Instance):
            source = expand_source(child.source, builder.prefabs)
            found[child.file_id] = found[nested_id(child.file_id, source.file_id)]
    return found


_FIELDS: Final = {"m_TagString": "tag", "m_Layer": "layer"}


def base_value(source: str, target: int, name: str, prefabs: Mapping[str, Prefab]) -> str | None:
    """What a prefab says about a property of one of its objects; None for objects of models, which no file tells."""
    if source not in prefabs:
        return None
    for child in walk((prefabs[source].root,)):
        if isinstance(child, Node) and child.file_id == target:
            return str(getattr(child, _FIELDS[name]))
        if isinstance(child, Instance):
            for _, node in expand_source(child.source, prefabs).walk():
                if nested_id(child.file_id, node.file_id) == target:
                    own = [each.value for each in child.overrides if (each.target, each.path) == (node.file_id, name)]
                    return own[-1] if own else base_value(child.source, node.file_id, name, prefabs)
    return None


def rename(edit: Edit) -> None:
    node = edit.pick(Node)
    if isinstance(node, Node):
        name = f"{node.name} renamed"
        edit.swap(node, replace(node, name=name))
        edit.note("changed", "field", node.file_id, "GameObject", "m_Name", node.name, name)


def toggle(edit: Edit) -> None:
    node = edit.pick(Node)
    if isinstance(node, Node):
        edit.swap(node, replace(node, active=not node.active))
        edit.note(
            "changed", "field", node.file_id, "GameObject", "m_IsActive", str(int(node.active)), str(int(not node.active))
        )


def reposition(edit: Edit) -> None:
    node = edit.pick(Node)
    if isinstance(node, Node):
        x, y, z = node.position
        edit.swap(node, replace(node, position=(x + 1, y, z)))
        kind = "RectTransform" if node.is_ui else "Transform"
        edit.note("changed", "field", node.file_id, kind, "m_LocalPosition.x", number_text(x), number_text(x + 1))


def add_objects(edit: Edit) -> None:
    parent = edit.pick(Node)
    made = edit.maker.node(1, bits=31)
    if isinstance(parent, Node):
        edit.swap(parent, replace(parent, children=(*parent.children, made)))
        for each in walk((made,)):
            edit.touched.add(each.file_id)
            edit.note("added", "object", each.file_id)


def remove_objects(edit: Edit) -> None:
    def is_free(child: Child) -> bool:
        return all(each.file_id not in edit.touched for each in walk((child,)))

    # What is removed may not hold other edits, nor be the only thing that holds one.
    node = edit.pick(Node, is_free)
    if isinstance(node, Node):
        for each in walk((node,)):
            edit.touched.add(each.file_id)
            edit.note("removed", "object", each.file_id)
        edit.after = replace(edit.after, roots=rebuild(edit.after.roots, lambda each: () if each is node else (each,)))


def move(edit: Edit) -> None:
    roots = edit.after.roots
    inner = {child.file_id: root for root in roots if isinstance(root, Node) for child in root.children}
    node = edit.pick(Node, lambda each: each.file_id in inner)
    if isinstance(node, Node):
        roots = rebuild(edit.after.roots, lambda each: () if each is node else (each,))
        edit.after = replace(edit.after, roots=(*roots, node))
        edit.note("moved", "object", node.file_id, "", "", str(inner[node.file_id].file_id), "")


def add_component(edit: Edit) -> None:
    node = edit.pick(Node)
    if isinstance(node, Node):
        made = Component(file_id=edit.builder.ids(31), type="AudioSource", fields={"m_Volume": 1})
        edit.swap(node, replace(node, components=(*node.components, made)))
        edit.note("added", "component", node.file_id, "AudioSource")


def remove_component(edit: Edit) -> None:
    node = edit.pick(Node, lambda each: isinstance(each, Node) and bool(each.components))
    if isinstance(node, Node):
        gone = edit.rng.choice(node.components)
        edit.swap(node, replace(node, components=tuple(each for each in node.components if each is not gone)))
        edit.note("removed", "component", node.file_id, _type_of(gone))


def change_component(edit: Edit) -> None:
    node = edit.pick(Node, lambda each: isinstance(each, Node) and bool(each.components))
    if isinstance(node, Node):
        old = edit.rng.choice(node.components)
        new = replace(old, fields={**old.fields, "planted": 7})
        edit.swap(node, replace(node, components=tuple(new if each is old else each for each in node.components)))
        edit.note("changed", "field", node.file_id, _type_of(old), "planted", None, "7")


def _type_of(component: Component) -> str:
    return component.script.rpartition("/")[2].removesuffix(".cs") if component.script else component.type


def add_instance(edit: Edit) -> None:
    source = edit.rng.choice(sorted(edit.builder.prefabs))
    made = Instance(file_id=edit.builder.ids(31), source=source)
    edit.touched.add(made.file_id)
    edit.after = replace(edit.after, roots=(*edit.after.roots, made))
    edit.note("added", "object", made.file_id)


def remove_instance(edit: Edit) -> None:
    def is_free(child: Child) -> bool:
        return all(each.file_id not in edit.touched for each in walk((child,)))

    instance = edit.pick(Instance, is_free)
    if isinstance(instance, Instance):
        for each in walk((instance,)):
            edit.touched.add(each.file_id)
            edit.note("removed", "object", each.file_id)
        edit.after = replace(edit.after, roots=rebuild(edit.after.roots, lambda each: () if each is instance else (each,)))


def override_tag(edit: Edit) -> None:
    """A new override, or another value of one that is there."""
    instance = edit.pick(Instance)
    if isinstance(instance, Instance):
        root = expand_source(instance.source, edit.builder.prefabs)
        place = nested_id(instance.file_id, root.file_id)
        old = [each for each in instance.overrides if (each.target, each.path) == (root.file_id, "m_TagString")]
        new = Override(target=root.file_id, path="m_TagString", value="Planted")
        edit.swap(instance, replace(instance, overrides=(*(each for each in instance.overrides if each not in old), new)))
        before = old[-1].value if old else base_value(instance.source, root.file_id, "m_TagString", edit.builder.prefabs)
        edit.note("changed" if old else "added", "override", place, "GameObject", "m_TagString", before, "Planted")


def revert_override(edit: Edit) -> None:
    def fits(child: Child) -> bool:
        return isinstance(child, Instance) and any(each.path == "m_Layer" for each in child.overrides)

    instance = edit.pick(Instance, fits)
    if isinstance(instance, Instance):
        gone = next(each for each in instance.overrides if each.path == "m_Layer")
        kept = tuple(each for each in instance.overrides if each is not gone)
        edit.swap(instance, replace(instance, overrides=kept))
        after = base_value(instance.source, gone.target, "m_Layer", edit.builder.prefabs)
        place = nested_id(instance.file_id, gone.target)
        edit.note("removed", "override", place, "GameObject", "m_Layer", gone.value, after)


def reorder(edit: Edit) -> None:
    def fits(child: Child) -> bool:
        below = child.children if isinstance(child, Node) else ()
        return len(below) > 1 and all(isinstance(each, Node) and each.file_id not in edit.touched for each in below)

    node = edit.pick(Node, fits)
    if isinstance(node, Node):
        first, *rest = node.children
        edit.swap(node, replace(node, children=(*rest, first)))
        names = [each.name.rpartition("/")[2] for each in node.children]
        edit.touched.update(each.file_id for each in node.children)
        edit.note("reordered", "object", node.file_id, "", "children", ", ".join(names), ", ".join([*names[1:], names[0]]))


EDITS: Final[Mapping[str, Callable[[Edit], None]]] = {
    each.__name__: each
    for each in (
        rename, toggle, reposition, add_objects, remove_objects, move, add_component, remove_component, change_component,
        add_instance, remove_instance, override_tag, revert_override, reorder,
    )
}  # fmt: skip
"""Every edit by name."""
