"""The names that clients see for the tools and prompts of an upstream: a configured prefix, or a new name for one tool.

Pure. The prefix is configured and never taken from what a server says about itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

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


def find_clashes(kind: str, names: Iterable[tuple[str, Iterable[str]]]) -> list[NameClash]:
    """Every name that two upstreams show. `names` are the upstreams in order, with the names that clients see."""
    owner: dict[str, str] = {}
    clashes: list[NameClash] = []
    for upstream, shown in names:
        for name in shown:
            first = owner.setdefault(name, upstream)
            if first != upstream:
                clashes.append(NameClash(kind=kind, name=name, first=first, second=upstream))
    return clashes
