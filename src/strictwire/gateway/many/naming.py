"""The names that clients see for the tools and prompts of an upstream: a configured prefix, or a new name for one tool.

Pure. The prefix is configured and never taken from what a server says about itself. It is a namespace: a name that begins
with it belongs to that upstream, and no other can offer it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

Entry = TypeVar("Entry")
NO_RENAMES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """Translates between the upstream's own names and the client's."""

    prefix: str = ""
    rename: Mapping[str, str] = field(default_factory=lambda: NO_RENAMES)
    """Own name to client's name, which gets no prefix."""
    _own_names: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_own_names", {client: own for own, client in self.rename.items()})

    @property
    def is_identity(self) -> bool:
        """Whether clients see every name unchanged."""
        return not self.prefix and not self.rename

    def to_client(self, own_name: str) -> str:
        """The name that clients see."""
        return self.rename.get(own_name) or self.prefix + own_name

    def to_upstream(self, client_name: str) -> str | None:
        """The upstream's own name; None if the name cannot belong to this upstream."""
        if client_name in self._own_names:
            return self._own_names[client_name]
        if not client_name.startswith(self.prefix):
            return None
        own_name = client_name[len(self.prefix) :]
        return None if own_name in self.rename or not own_name else own_name

    def for_method(self, method: str) -> Naming:
        """The naming for a method's list: `rename` applies to tools alone."""
        return self if method.startswith("tools/") else Naming(prefix=self.prefix)

    def names_of(self, method: str, entries: Mapping[str, Entry]) -> dict[str, Entry]:
        """The entries of a list by the names that clients see."""
        naming = self.for_method(method)
        return {naming.to_client(own): entry for own, entry in entries.items()}


def find_owners(client_name: str, namings: Sequence[Naming]) -> list[int]:
    """The upstreams that may offer a name to clients, as indexes.

    1. those that rename a tool to exactly this name
    2. those with the longest prefix that the name begins with; no prefix is the shortest
    """
    renaming = [index for index, each in enumerate(namings) if client_name in each.rename.values()]
    if renaming:
        return renaming
    longest = max((len(each.prefix) for each in namings if client_name.startswith(each.prefix)), default=0)
    return [
        index
        for index, each in enumerate(namings)
        if len(each.prefix) == longest and each.to_upstream(client_name) is not None
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intrusion:
    """A name that an upstream offers, and that belongs to another because of its prefix or its `rename` table."""

    kind: str
    """`tool` or `prompt`."""
    name: str
    upstream: str
    owners: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the {self.kind} {self.name!r} of upstream {self.upstream!r} has a name that is reserved for "
            f'{" and ".join(map(repr, self.owners))}: set prefix = "{self.upstream}_" in [guard.upstreams.{self.upstream}]'
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NameClash:
    """Two upstreams that would show the same name to clients."""

    kind: str
    """`tool` or `prompt`."""
    name: str
    first: str
    second: str

    def __str__(self) -> str:
        rename = f", or give it another name in its `rename` table: rename = {{ {self.name} = ... }}"
        return (
            f"the {self.kind} {self.name!r} is offered by two upstreams, {self.first!r} and {self.second!r}: set "
            f'prefix = "{self.second}_" in [guard.upstreams.{self.second}]{rename if self.kind == "tool" else ""}'
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNames:
    """The names that clients would see of one upstream."""

    upstream: str
    naming: Naming
    names: tuple[str, ...]


def find_clashes(kind: str, shown: Sequence[ShownNames]) -> list[NameClash | Intrusion]:
    """Every name that two upstreams show, or that one shows in the namespace of another."""
    namings = [each.naming for each in shown]
    showing: dict[str, list[int]] = {}
    for index, each in enumerate(shown):
        for name in dict.fromkeys(each.names):
            showing.setdefault(name, []).append(index)
    clashes: list[NameClash | Intrusion] = []
    for name, indexes in showing.items():
        owners = find_owners(name, namings)
        # The remedy is for the upstream that does not own the name, or for the later one.
        first, *others = sorted(indexes, key=lambda index: index not in owners)
        clashes += [
            NameClash(kind=kind, name=name, first=shown[first].upstream, second=shown[other].upstream) for other in others
        ]
        if first not in owners:
            reserved = tuple(shown[owner].upstream for owner in owners)
            clashes.append(Intrusion(kind=kind, name=name, upstream=shown[first].upstream, owners=reserved))
    return clashes
