"""The workspace pack: agents read a folder freely, and change it only under a plan that was approved by someone other than
its author."""

from strictwire.packs.workspace.pack import WorkspacePack, pack

__all__ = ["WorkspacePack", "pack"]
