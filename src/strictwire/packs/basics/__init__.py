"""The basics pack: a few read-only tools about JSON and text that need no settings and touch no file."""

from strictwire.packs.basics.pack import BasicsPack, pack

__all__ = ["BasicsPack", "pack"]
