"""What the tools and prompts of an upstream are called towards clients: a configured prefix, and single names given anew.

Pure. The prefix is configured and never taken from what a server says of itself: that is its own word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """Both ways between the upstream's own name and the one that is shown."""

    prefix: str = ""
    rename: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    """Own name to the shown one, which has no prefix then."""
    _back: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_back", {shown: own for own, shown in self.rename.items()})

    @property
    def is_plain(self) -> bool:
        """Whether every name is shown as it is."""
        return not self.prefix and not self.rename

    def shown(self, own: str) -> str:
        """What a client reads."""
        return self.rename.get(own) or self.prefix + own

    def own(self, shown: str) -> str | None:
        """What the upstream calls it; None if it can be none of this upstream's."""
        if shown in self._back:
            return self._back[shown]
        if not shown.startswith(self.prefix):
            return None
        own = shown[len(self.prefix) :]
        return None if own in self.rename or not own else own

    def without_renames(self) -> Naming:
        """For prompts: `rename` is about tools."""
        return Naming(prefix=self.prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Two upstreams that would show the same name."""

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


def find_clashes(kind: str, shown: Iterable[tuple[str, Iterable[str]]]) -> list[Clash]:
    """Every name that a later upstream shows although an earlier one does; `shown` is upstreams in order with names."""
    owner: dict[str, str] = {}
    clashes: list[Clash] = []
    for upstream, names in shown:
        for name in names:
            first = owner.setdefault(name, upstream)
            if first != upstream:
                clashes.append(Clash(kind=kind, name=name, first=first, second=upstream))
    return clashes
