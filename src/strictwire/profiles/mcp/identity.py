"""The name under which a server or the guard introduces itself."""

from __future__ import annotations

from dataclasses import dataclass

from strictwire.canon.json import JsonObject, render


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """How a server introduces itself."""

    name: str
    version: str
    title: str | None = None
    instructions: str | None = None

    def as_json(self) -> JsonObject:
        """The `serverInfo` object."""
        shown: JsonObject = {"name": self.name, "version": self.version}
        return shown | ({"title": self.title} if self.title else {})


def stamp(identity: Identity) -> bytes:
    """What 2026-07-28 puts at the end of every complete result."""
    shown = render({"io.modelcontextprotocol/serverInfo": identity.as_json()})
    return b',"resultType":"complete","_meta":%b}' % shown
