"""`strictwire audit verify | repair | witness | cosign`: whether the audit trail can be trusted, and how to go on if not."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from strictwire.cli.progress import show_progress

if TYPE_CHECKING:
    from strictwire.audit.checkpoint import Checkpoint, PublicKey
    from strictwire.audit.verify import Finding
    from strictwire.stores.files.config import TrailConfig
    from strictwire.stores.files.witness import Ask

FINDINGS: Final = 100
COULD_NOT_RUN: Final = 1

NO_KEY: Final = (
    "a server creates it with the first trail. Name another trail with --config FILE, or --folder DIR and --key FILE"
)

NEXT: Final = "  next: copy the trail and the files beside its key, then run `strictwire audit repair --reason TEXT`"

NOT_ANCHORED: Final = (
    "there is no checkpoint of this folder beside the key: if the folder was put back to an earlier state, it does not show"
)

WITNESS_EXAMPLES: Final = """examples:
  strictwire audit witness --file /mnt/elsewhere/checkpoints
  strictwire audit witness --command 'ssh auditor strictwire audit cosign --log-key our.key.pub'
  strictwire audit witness --url https://witness.example --witness-key witness.pub --every 60
  strictwire audit verify --witness checkpoints-of-the-witness --witness-key witness.pub

exit codes: 0 seen by the witness, 100 the witness refused, 1 could not run, 2 wrong usage
"""

REPAIR_EXAMPLES: Final = """examples:
  cp -a ~/.local/state/strictwire/audit /evidence       keep a copy for the investigation first
  strictwire audit repair --reason 'disk restored from a backup of Monday, ticket 4711'

What does not verify is moved to audit-log.damaged-NNN in the folder of the trail. The log goes on with a record that
says who repaired it, why, and what was wrong.
"""


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Add the options of `verify`."""
    parser.add_argument("--witness", type=Path, metavar="FILE", help="checkpoints that a witness has kept")
    parser.add_argument("--witness-key", type=Path, metavar="FILE", help="count only what this witness has cosigned")


def add_repair(parser: argparse.ArgumentParser) -> None:
    """Add the options of `repair`."""
    parser.epilog = REPAIR_EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why you accept the finding; it is recorded")


def add_witness(parser: argparse.ArgumentParser) -> None:
    """Add the options of `witness`."""
    parser.epilog = WITNESS_EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--file", type=Path, metavar="FILE", help="a file elsewhere that keeps the checkpoints")
    kind.add_argument("--command", metavar="COMMAND", help="a command that reads a request and writes the reply")
    kind.add_argument("--url", metavar="URL", help="an HTTP witness (C2SP tlog-witness)")
    parser.add_argument("--witness-key", type=Path, metavar="FILE", help="public key of the witness, to check its signature")
    parser.add_argument("--every", type=float, metavar="SECONDS", help="repeat until stopped")


def add_cosign(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cosign`."""
    parser.add_argument(
        "--log-key", type=Path, action="append", required=True, metavar="FILE", help="public key of a log; may be repeated"
    )
    parser.add_argument(
        "--witness-key", type=Path, metavar="FILE", help="signing key of the witness (default: in the user's state folder)"
    )
    parser.add_argument("--seen", type=Path, metavar="FILE", help="what the witness has seen (default: beside its key)")


def verify(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    """Verify the trail and the trails of all workers. Returns the worst exit code."""
    logs = list(_logs(trail))
    codes = []
    for each in logs:
        if each.log:
            print(f"{each.log}: ", end="")
        codes.append(_verify_one(arguments, each, has_siblings=len(logs) > 1))
    return max(codes)


def _logs(trail: TrailConfig) -> Iterator[TrailConfig]:
    """The log of a folder, unless only workers have logs there, and the logs of its workers."""
    from strictwire.stores.files.layout import ACTIVE

    workers = [] if trail.log else [trail.for_worker(number) for number in trail.known_workers()]
    if not workers or trail.anchor_path.exists() or (trail.folder / ACTIVE).exists():
        yield trail
    yield from workers


def public_key(trail: TrailConfig) -> PublicKey:
    """The public key of a log. Raises KeyUnsafe, OSError."""
    from strictwire.stores.files.keys import public_path, read_public_key

    try:
        return read_public_key(public_path(trail.key_path)).for_log(trail.log)
    except FileNotFoundError as exc:
        raise FileNotFoundError(exc.errno, f"{exc.strerror}; {NO_KEY}", exc.filename) from exc


def _verify_one(arguments: argparse.Namespace, trail: TrailConfig, *, has_siblings: bool) -> int:
    from strictwire.audit.verify import Finding, Reason
    from strictwire.stores.files.evidence import read_evidence
    from strictwire.stores.files.layout import ACTIVE
    from strictwire.stores.files.verify import verify_trail

    key = public_key(trail)
    evidence = read_evidence(trail, key, _witnessed(arguments, key))
    if evidence.anchor is not None and not trail.folder.is_dir():
        return _report(Finding(reason=Reason.LOG_MISSING, record=0, last=0, name=trail.folder.name))
    is_known = evidence.anchor is not None or not (trail.folder / ACTIVE).exists()
    if trail.log and has_siblings and not is_known:
        return _report(Finding(reason=Reason.UNEXPECTED_FILE, record=0, last=0, name=trail.log))
    verdict = verify_trail(trail.folder, key, evidence=evidence, progress=show_bytes)
    if verdict.finding is not None:
        return _report(verdict.finding)
    print(
        f"ok: {verdict.size - verdict.first} records from {verdict.first}, {verdict.signed} signed by "
        f"{verdict.checkpoints} checkpoints, root {verdict.root.hex()}"
    )
    if evidence.anchor is None:
        print(NOT_ANCHORED)
    if verdict.torn:
        print(f"{verdict.torn} bytes of an unfinished line at the end: the next start of the server moves them away")
    return 0


def _report(finding: Finding) -> int:
    print(f"BROKEN: {finding}\n{NEXT}")
    return FINDINGS


def _witnessed(arguments: argparse.Namespace, key: PublicKey) -> list[Checkpoint]:
    from strictwire.stores.files.evidence import read_witnessed
    from strictwire.stores.files.keys import read_public_key

    if arguments.witness is None:
        return []
    witness = None if arguments.witness_key is None else read_public_key(arguments.witness_key)
    return read_witnessed(arguments.witness, key, witness)


def repair(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    """Continue every log that has a finding, with a record of who did it and why."""
    from contextlib import closing

    from strictwire.server.system_user import system_user
    from strictwire.stores.files.config import open_writer
    from strictwire.stores.files.repair import repair_trail

    for each in _logs(trail):
        repaired = repair_trail(each, principal=system_user(), reason=arguments.reason)
        with closing(open_writer(each)) as writer:
            writer.open()
        name = f"{each.log}: " if each.log else ""
        if repaired is None:
            print(f"{name}nothing to repair")
            continue
        aside = f"; what does not verify is in {repaired.kept_as}" if repaired.kept_as else ""
        print(f"{name}{repaired.finding}; the log goes on with record {repaired.next}, which says so{aside}")
    return 0


def witness(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    """Have the newest checkpoint of every log seen by a witness."""
    while True:
        code = max(_witness_one(arguments, each) for each in _logs(trail))
        if arguments.every is None:
            return code
        time.sleep(arguments.every)


def _witness_one(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.keys import read_public_key
    from strictwire.stores.files.witness import WitnessRefused, witness_trail

    key = public_key(trail)
    signer = None if arguments.witness_key is None else read_public_key(arguments.witness_key)
    try:
        seen = witness_trail(trail, key, _ask(arguments, key), witness=signer)
    except WitnessRefused as refused:
        print(f"REFUSED by the witness: {refused.reason}")
        return FINDINGS
    print(f"the witness has {'now' if seen.is_new else 'already'} seen the checkpoint with {seen.checkpoint.size} records")
    return 0


def _ask(arguments: argparse.Namespace, key: PublicKey) -> Ask:
    from strictwire.stores.files.witness import ask_command, ask_file, ask_url

    if arguments.file is not None:
        return ask_file(arguments.file, key)
    return ask_url(arguments.url) if arguments.url else ask_command(shlex.split(arguments.command))


def cosign(arguments: argparse.Namespace, _trail: TrailConfig) -> int:
    """Be a witness for one request from standard input: the status on the first line of the output, then the body."""
    from strictwire.audit.cosign import MAX_REQUEST_BYTES, Status
    from strictwire.settings.places import state_folder
    from strictwire.stores.files.keys import load_or_make_witness_key, read_public_key
    from strictwire.stores.files.witness import serve_request

    path = arguments.witness_key or state_folder() / "keys" / "witness.key"
    reply = serve_request(
        sys.stdin.buffer.read(MAX_REQUEST_BYTES + 1),
        logs=[read_public_key(each) for each in arguments.log_key],
        kept=arguments.seen or path.with_name(path.name + ".seen"),
        key=load_or_make_witness_key(path),
        seconds=int(time.time()),
    )
    sys.stdout.write(f"{reply.status.value}\n{reply.body.decode()}")
    return 0 if reply.status is Status.SIGNED else FINDINGS


def show_bytes(done: int, total: int) -> None:
    """Show how far a long read has come, in megabytes."""
    show_progress(done >> 20, total >> 20)


VERBS: Final[Mapping[str, Callable[[argparse.Namespace, Any], int]]] = MappingProxyType(
    {"verify": verify, "repair": repair, "witness": witness, "cosign": cosign}
)
"""The functions of the subcommands."""
