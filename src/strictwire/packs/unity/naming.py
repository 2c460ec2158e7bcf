"""Names objects for people: the hierarchy path of any document of a scene or prefab, prefabs included. Pure.

An address is a tuple of file ids: the instances that lead to an object, outermost first, and the object's own id in the
innermost prefab. Only what is asked for is resolved, so naming ten objects of a large scene is cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Final, TypeAlias

from strictwire.packs.unity.hierarchy.sources import Source
from strictwire.packs.unity.hierarchy.tree import nested_id
from strictwire.packs.unity.yaml.objects import Component, Instance, Structure

_SIGN: Final = 2**63

MAX_DEPTH: Final = 256
"""Steps from an object towards its root. The deepest tree found in public projects has 16."""

MAX_NESTING: Final = 64
"""Prefabs inside prefabs."""

MAX_PATH: Final = 4_096
"""Characters of a path. Names of a damaged file may have a million each, and every finding shows one path."""

CUT: Final = "…"
"""At the start of a path that is longer or deeper."""

MAX_LOOKUPS: Final = 200_000
"""Searches for nested ids in one file. Each takes microseconds, and prefabs that nest doubly need one for every copy."""

UNKNOWN: Final = "?"
"""In place of a name that no file on disk tells."""

MODEL_ROOTS: Final[Mapping[int, int]] = MappingProxyType(
    {400000: 100000, 100000: 100000, -8679921383154817045: 919132149155446097, 919132149155446097: 919132149155446097}
)
"""Ids of the root object and transform of an imported model, older and newer importer, to the id of the object."""

Address: TypeAlias = tuple[int, ...]


OpenSource: TypeAlias = Callable[[str], Source]
"""From the GUID of a prefab or model. Callers cache."""


def encode(address: Address) -> int:
    """The id of an address in the file it starts from."""
    made = address[-1]
    for instance in reversed(address[:-1]):
        made = nested_id(instance, made)
    return made


class _Budget:
    """What is left of the lookups that a file may cost."""

    def __init__(self) -> None:
        self._left = MAX_LOOKUPS

    def spend(self) -> bool:
        """Take one; False if none is left."""
        self._left -= 1
        return self._left >= 0


class Names:
    """The names of one file."""

    def __init__(
        self, structure: Structure, open_source: OpenSource, *, chain: tuple[str, ...] = (), budget: _Budget | None = None
    ) -> None:
        """`chain` are the GUIDs of the prefabs around this one, which it must not contain."""
        self.structure = structure
        self._open = open_source
        self._chain = chain
        self._budget = budget or _Budget()
        self._inner: dict[str, Names | None] = {}
        self._paths: dict[int, str] = {}
        self._parts: dict[Address, str] = {}
        self._parents: dict[Address, Address] = {}

    def path(self, file_id: int) -> str:
        """The hierarchy path of the object that a document is or belongs to; empty if it belongs to none."""
        # One document may have 100,000 findings, and an instance as many overrides to look through for its name.
        if file_id not in self._paths:
            owner = self.owner(self.decode(file_id))
            self._paths[file_id] = self.path_at(owner) if owner else ""
        return self._paths[file_id]

    def path_at(self, address: Address) -> str:
        """The hierarchy path of the object at an address."""
        names = [self._name_of(each) for each in islice(self._upwards(address), MAX_DEPTH + 1)]
        path = "/".join(reversed(names if len(names) <= MAX_DEPTH else [*names[:MAX_DEPTH], CUT]))
        return path if len(path) <= MAX_PATH else CUT + path[-MAX_PATH:]

    def name(self, address: Address) -> str:
        """The name of the object at an address, overrides applied. The outermost override wins."""
        if len(address) == 1:
            found = self.structure.objects.get(address[0])
            return found.name if found else UNKNOWN
        instance = self.structure.instances.get(address[0])
        if instance is None:
            return UNKNOWN
        target = encode(address[1:])
        named = [each.value for each in instance.overrides if each.path == "m_Name" and each.target == target]
        if named:
            return named[-1]
        inner = self._names_of(instance)
        if inner is not None:
            return inner.name(address[1:])
        return self._open(instance.source.guid).name if target in MODEL_ROOTS else UNKNOWN

    def decode(self, file_id: int) -> Address:
        """The address of a document. A PrefabInstance stands for its root object."""
        structure = self.structure
        if file_id in structure.stripped:
            stripped = structure.stripped[file_id]
            return self.decode_in(stripped.instance, stripped.source)
        if file_id in structure.instances:
            return self.instance_root(file_id)
        if file_id in structure.objects or file_id in structure.components:
            return (file_id,)
        return next(self._nested(file_id), (file_id,))

    def decode_in(self, instance_id: int, source_id: int) -> Address:
        """The address of an object of an instance, by its id in the source prefab."""
        instance = self.structure.instances.get(instance_id)
        inner = self._names_of(instance) if instance else None
        return (instance_id, *(inner.decode(source_id) if inner else (source_id,)))

    def instance_root(self, instance_id: int) -> Address:
        """The address of the root object of an instance."""
        instance = self.structure.instances[instance_id]
        inner = self._names_of(instance)
        if inner is not None:
            return (instance_id, *inner.root)
        # The source tells nothing; the override that every instance has for its name tells which id the root has.
        named = next((each.target for each in instance.overrides if each.path == "m_Name"), None)
        return (instance_id, named if named is not None else next(iter(MODEL_ROOTS)))

    @cached_property
    def root(self) -> Address:
        """The root object of a prefab."""
        for transform in self.structure.transforms.values():
            if transform.father == 0 and transform.game_object in self.structure.objects:
                return (transform.game_object,)
        for file_id, instance in self.structure.instances.items():
            if instance.parent == 0:
                return self.instance_root(file_id)
        return (0,)

    def owner(self, address: Address) -> Address:
        """The GameObject that the document at an address is or belongs to; empty if there is none."""
        scope = self._scope(address)
        if scope is None:
            return (*address[:-1], MODEL_ROOTS.get(address[-1], address[-1]))
        if address[-1] in scope.structure.objects:
            return address
        component = scope.structure.components.get(address[-1])
        if component is None or component.game_object == 0:
            return ()
        return (*address[:-1], *scope.decode(component.game_object))

    def component_at(self, address: Address) -> Component | None:
        """The component at an address; None if it is none, or not known."""
        scope = self._scope(address)
        return scope.structure.components.get(address[-1]) if scope else None

    def guid_at(self, address: Address) -> str:
        """The GUID of the innermost prefab of an address; empty for an address without an instance."""
        scope = self._scope(address[:-1]) if len(address) > 1 else None
        instance = scope.structure.instances.get(address[-2]) if scope else None
        return instance.source.guid if instance else ""

    def parent(self, address: Address) -> Address:
        """The object above; empty for a root."""
        scope = self._scope(address)
        if scope is None:
            return self._parent_of_instance(address)
        father = next((each for each in scope._fathers(address[-1])), 0)  # noqa: SLF001 - the same class
        if father == 0:
            return self._parent_of_instance(address)
        return (*address[:-1], *scope.owner(scope.decode(father)))

    def _parent_of_instance(self, address: Address) -> Address:
        """The object that the innermost instance of an address is attached to."""
        if len(address) == 1:
            return ()
        around = address[:-1]
        scope = self._scope(around)
        instance = scope.structure.instances.get(around[-1]) if scope else None
        if scope is None or instance is None:
            return ()
        if instance.parent == 0:
            return self._parent_of_instance(around)
        return (*around[:-1], *scope.owner(scope.decode(instance.parent)))

    def _fathers(self, object_id: int) -> Iterator[int]:
        found = self.structure.objects.get(object_id)
        for component in found.components if found else ():
            if component in self.structure.transforms:
                yield self.structure.transforms[component].father

    def _upwards(self, address: Address) -> Iterator[Address]:
        while address:
            yield address
            if address not in self._parents:
                self._parents[address] = self.parent(address)
            address = self._parents[address]

    def _name_of(self, address: Address) -> str:
        """The name of an object as a part of paths. Objects of a deep tree are a part of many."""
        if address not in self._parts:
            self._parts[address] = self.name(address)[:MAX_PATH]
        return self._parts[address]

    def _scope(self, address: Address) -> Names | None:
        """The names of the innermost prefab of an address; None if its source cannot be read."""
        scope: Names | None = self
        for instance_id in address[:-1]:
            instance = scope.structure.instances.get(instance_id) if scope else None
            scope = scope._names_of(instance) if scope and instance else None  # noqa: SLF001 - the same class
        return scope

    def _names_of(self, instance: Instance) -> Names | None:
        guid = instance.source.guid
        if guid not in self._inner:
            source = self._open(guid) if guid not in self._chain and len(self._chain) < MAX_NESTING else None
            structure = source.structure if source else None
            chain = (*self._chain, guid)
            self._inner[guid] = Names(structure, self._open, chain=chain, budget=self._budget) if structure else None
        return self._inner[guid]

    def _nested(self, file_id: int) -> Iterator[Address]:
        """Addresses that have this id by the rule for nested prefabs. The rule drops the sign, so both are tried."""
        for instance_id, instance in self.structure.instances.items():
            if not self._budget.spend():
                return
            inner = self._names_of(instance)
            low = nested_id(instance_id, file_id)
            for source_id in (low, low - _SIGN):
                if inner is not None and inner.knows(source_id):
                    yield (instance_id, *inner.decode(source_id))
                elif inner is None and source_id in MODEL_ROOTS:
                    yield (instance_id, source_id)

    def knows(self, file_id: int) -> bool:
        """Whether an id names a document of this file or an object of a prefab inside it."""
        structure = self.structure
        is_own = any(file_id in table for table in (structure.objects, structure.components, structure.stripped))
        return is_own or next(self._nested(file_id), None) is not None
