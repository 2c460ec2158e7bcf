"""Records of who created which plan, in the state folder of the pack, signed.

Anyone who can change the workspace can put a file into `docs/plans` and name any author in it. So the author of a plan is
the caller that this server recorded when it created the plan, and a plan without a record cannot be approved.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from strictwire.packs.workspace.plans.approval import Creation, Signer
from strictwire.packs.workspace.state_files import StateDamaged, read_regular, sync_folder, write_draft


class Creations:
    """See the module docstring."""

    def __init__(self, folder: Path, signer: Signer) -> None:
        self._folder = folder
        self._signer = signer

    def add(self, creation: Creation) -> None:
        """Record a creation durably. The first record of a plan is kept. Raises OSError."""
        path = self._path(creation.workspace, creation.plan_hash)
        draft = write_draft(path.parent, self._signer.sign_creation(creation))
        with suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
        sync_folder(path.parent)

    def maybe_find(self, workspace: str, plan_hash: str) -> Creation | None:
        """Return the record of a plan; None if there is none with a valid signature. Raises OSError."""
        try:
            found = self._signer.verifier.maybe_creation(read_regular(self._path(workspace, plan_hash)))
        except (FileNotFoundError, StateDamaged):
            return None
        is_named = found is not None and (found.workspace, found.plan_hash) == (workspace, plan_hash)
        return found if is_named else None

    def _path(self, workspace: str, plan_hash: str) -> Path:
        return self._folder / workspace / f"{plan_hash}.json"
