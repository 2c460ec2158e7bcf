"""Records of who created which plan, in the state folder of the pack, signed.

Anyone who can change the workspace can put a file into `docs/plans` and name any author in it. So the author of a plan is
whoever this server recorded when the plan was created through it, and a plan without a record cannot be approved.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from strictwire.packs.workspace.plans.approval import Creation, Signer


class Creations:
    """See the module docstring."""

    def __init__(self, folder: Path, signer: Signer) -> None:
        self._folder = folder
        self._signer = signer

    def add(self, creation: Creation) -> None:
        """Record a creation durably. The first record of a plan is kept. Raises OSError."""
        path = self._path(creation.workspace, creation.plan_hash)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f".{secrets.token_hex(8)}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(self._signer.sign_creation(creation))
            file.flush()
            os.fsync(handle)
        with suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
        _sync(path.parent)

    def maybe_find(self, workspace: str, plan_hash: str) -> Creation | None:
        """Return the record of a plan; None if there is none with a valid signature. Raises OSError."""
        try:
            found = self._signer.verifier.maybe_creation(self._path(workspace, plan_hash).read_bytes())
        except FileNotFoundError:
            return None
        is_named = found is not None and (found.workspace, found.plan_hash) == (workspace, plan_hash)
        return found if is_named else None

    def _path(self, workspace: str, plan_hash: str) -> Path:
        return self._folder / workspace / f"{plan_hash}.json"


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
