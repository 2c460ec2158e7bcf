"""The tool commit_phase: commits the files that one phase of a plan changed to git, after running its commands again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strictwire.canon.json import JsonObject
from strictwire.packs.workspace.content import MAX_FILE, sha256_of
from strictwire.packs.workspace.git.content import Author, Blob, clean_name
from strictwire.packs.workspace.journal import maybe_hash
from strictwire.packs.workspace.ledger import APPLIED, Change, Ledger, resolve_unfinished
from strictwire.packs.workspace.path_locks import PathLocks
from strictwire.packs.workspace.permit import Permits
from strictwire.packs.workspace.plans.approval import Approval
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.preflight import Preflight
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.session_store import Session

if TYPE_CHECKING:
    from strictwire.packs.workspace.git.repository import Repository

_MAX_SUBJECT = 200
"""Longest subject line, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commits:
    """The tool commit_phase."""

    permits: Permits
    ledger: Ledger
    path_locks: PathLocks
    preflight: Preflight
    now: Callable[[], float]

    def commit(self, session: Session, arguments: JsonObject) -> JsonObject:
        """Run the commands of the phase and commit its files.

        Raises Refused: INVALID_INPUT_VALUE for the message; the codes of Permits; PATH_NOT_FOUND if there is no repository;
        HASH_MISMATCH if a file was changed by someone else; PREFLIGHT_FAILED; FILE_WRITE_FAILED if the
        repository cannot be used.
        """
        plan_hash, phase_id = arguments["plan_hash"], arguments["phase_id"]
        subject = _subject(arguments["message"])
        gates, approval = self.permits.gates(session, plan_hash, phase_id)
        repository = _open_repository(session)
        recorded = self.ledger.read(workspace_id(session.root), plan_hash)
        expected = _expected_files(resolve_unfinished(recorded, lambda path: maybe_hash(session.jail, path)), phase_id)
        with self.path_locks.hold(session.root, *expected):
            checked = self.preflight.check(gates, folder=session)
            blobs = [_blob(session, path, sha256) for path, sha256 in expected.items()]
            message = _message(subject, arguments, approval)
            author = Author(name=clean_name(session.principal), seconds=self.now())
            made = repository.commit(blobs, message=message, author=author) if blobs else None
        return {
            "plan_hash": plan_hash,
            "phase_id": phase_id,
            "commit": made,
            "files": [{"path": path, "sha256": sha256} for path, sha256 in expected.items()] if made else [],
            "preflight": checked,
        }


def _open_repository(session: Session) -> Repository:
    """Raises Refused: PATH_NOT_FOUND, FILE_WRITE_FAILED."""
    # Loads dulwich, which is an extra.
    try:
        from strictwire.packs.workspace.git.repository import Repository
    except ImportError as exc:
        text = "dulwich is not installed on the server: pip install 'strictwire[workspace]'"
        raise refuse("FILE_WRITE_FAILED", text, "dulwich_missing") from exc
    return Repository(session.own)


def _expected_files(changes: tuple[Change, ...], phase_id: str) -> dict[str, str | None]:
    """Return the last hash that the plan wrote for each path that the phase changed, also if a later phase changed it."""
    applied = [change for change in changes if change.ended == APPLIED]
    touched = {each.path for change in applied if change.phase_id == phase_id for each in change.files}
    expected = {each.path: each.after for change in applied for each in change.files if each.path in touched}
    return dict(sorted(expected.items()))


def _blob(session: Session, path: str, expected: str | None) -> Blob:
    """Read a file for the commit. Raises Refused: HASH_MISMATCH."""
    if expected is None:
        if maybe_hash(session.jail, path) is not None:
            raise refuse("HASH_MISMATCH", f"{path} exists again since the plan deleted it", "changed", path=path)
        return Blob(path=path, data=None)
    if maybe_hash(session.jail, path) is None:
        raise refuse("HASH_MISMATCH", f"{path} was deleted since the plan wrote it", "changed", path=path)
    data = session.jail.read(path, limit=MAX_FILE)
    if sha256_of(data) != expected:
        raise refuse("HASH_MISMATCH", f"{path} was changed since the plan wrote it", "changed", path=path)
    return Blob(path=path, data=data, is_executable=session.jail.stat(path).is_executable)


def _subject(message: str) -> str:
    """Return the subject line. Raises Refused: INVALID_INPUT_VALUE if it has more than one line."""
    text = message.strip()
    if not text or len(text) > _MAX_SUBJECT or not text.isprintable():
        raise refuse("INVALID_INPUT_VALUE", f"message must be one line of at most {_MAX_SUBJECT} characters", "message")
    return text


def _message(subject: str, arguments: JsonObject, approval: Approval) -> str:
    trailers = {
        "Plan-Hash": arguments["plan_hash"],
        "Phase-ID": arguments["phase_id"],
        "Approved-By": clean_name(approval.approver),
    }
    return f"{subject}\n\n" + "".join(f"{name}: {value}\n" for name, value in trailers.items())
