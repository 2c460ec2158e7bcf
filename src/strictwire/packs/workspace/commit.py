"""commit_phase: the files that one phase of a plan changed, as one git commit, after its gates have passed once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from strictwire.canon.json import JsonObject
from strictwire.packs.workspace.book import Session
from strictwire.packs.workspace.content import MAX_FILE, sha256_of
from strictwire.packs.workspace.git import Author, Blob, Repository, clean_name
from strictwire.packs.workspace.journal import maybe_hash
from strictwire.packs.workspace.latch import Latches
from strictwire.packs.workspace.ledger import STOOD, Change, Ledger, settle
from strictwire.packs.workspace.permit import Permits
from strictwire.packs.workspace.plans.approval import Approval
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.preflight import Preflight
from strictwire.packs.workspace.refusal import refuse

_MAX_SUBJECT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Commits:
    """The tool."""

    permits: Permits
    ledger: Ledger
    latches: Latches
    preflight: Preflight
    now: Callable[[], float]

    def commit(self, session: Session, arguments: JsonObject) -> JsonObject:
        """commit_phase. Raises Refused: INVALID_INPUT_VALUE the message; the codes of Permits; PATH_NOT_FOUND no
        repository; HASH_MISMATCH a file was changed since by someone else; PREFLIGHT_FAILED; FILE_WRITE_FAILED git."""
        plan_hash, phase_id = arguments["plan_hash"], arguments["phase_id"]
        subject = _subject(arguments["message"])
        gates, approval = self.permits.gates(session, plan_hash, phase_id)
        repository = Repository(session.root, session.jail)
        noted = self.ledger.read(workspace_id(session.root), plan_hash)
        left = _left(settle(noted, lambda path: maybe_hash(session.jail, path)), phase_id)
        with self.latches.hold(session.identity, *left):
            checked = self.preflight.check(gates, folder=session.root)
            blobs = [_blob(session, path, expected) for path, expected in left.items()]
            message = _message(subject, arguments, approval)
            author = Author(name=clean_name(session.principal), seconds=self.now())
            made = repository.commit(blobs, message=message, author=author) if blobs else None
        return {
            "plan_hash": plan_hash,
            "phase_id": phase_id,
            "commit": made,
            "files": [{"path": path, "sha256": expected} for path, expected in left.items()] if made else [],
            "preflight": checked,
        }


def _left(changes: tuple[Change, ...], phase_id: str) -> dict[str, str | None]:
    """What the plan left of each path that the phase touched; a later phase may have changed it again."""
    stood = [change for change in changes if change.ended == STOOD]
    touched = {each.path for change in stood if change.phase_id == phase_id for each in change.files}
    left = {each.path: each.after for change in stood for each in change.files if each.path in touched}
    return dict(sorted(left.items()))


def _blob(session: Session, path: str, expected: str | None) -> Blob:
    """Raises Refused: HASH_MISMATCH."""
    if expected is None:
        if maybe_hash(session.jail, path) is not None:
            raise refuse("HASH_MISMATCH", f"{path} is there again since the plan took it away", "changed", path=path)
        return Blob(path=path, data=None)
    if maybe_hash(session.jail, path) is None:
        raise refuse("HASH_MISMATCH", f"{path} is gone since the plan wrote it", "changed", path=path)
    data = session.jail.read(path, limit=MAX_FILE)
    if sha256_of(data) != expected:
        raise refuse("HASH_MISMATCH", f"{path} was changed since the plan wrote it", "changed", path=path)
    return Blob(path=path, data=data, is_executable=session.jail.stat(path).is_executable)


def _subject(message: str) -> str:
    """Raises Refused: INVALID_INPUT_VALUE more than one line."""
    text = message.strip()
    if not text or len(text) > _MAX_SUBJECT or not text.isprintable():
        raise refuse("INVALID_INPUT_VALUE", f"message is one line of at most {_MAX_SUBJECT} characters", "message")
    return text


def _message(subject: str, arguments: JsonObject, approval: Approval) -> str:
    trailers = {
        "Plan-Hash": arguments["plan_hash"],
        "Phase-ID": arguments["phase_id"],
        "Approved-By": clean_name(approval.approver),
    }
    return f"{subject}\n\n" + "".join(f"{name}: {value}\n" for name, value in trailers.items())
