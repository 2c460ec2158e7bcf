"""The workspace pack: agents read a folder freely and change it only under a plan that someone else approved."""

from strictwire.packs.workspace.pack import WorkspacePack, pack

__all__ = ["WorkspacePack", "pack"]
