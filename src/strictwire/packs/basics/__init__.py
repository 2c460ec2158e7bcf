"""The basics pack: read-only tools for JSON and text. It needs no settings and touches no files."""

from strictwire.packs.basics.pack import BasicsPack, pack

__all__ = ["BasicsPack", "pack"]
