"""`strictwire audit`: reads, verifies, repairs, proves, exports and prunes the audit trail."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from strictwire.cli import shared
from strictwire.cli.audit_trust import (
    COULD_NOT_RUN,
    FINDINGS,
    VERBS,
    add_cosign,
    add_repair,
    add_verify,
    add_witness,
    public_key,
    show_bytes,
)
from strictwire.fault.escape import for_json_line, for_terminal

if TYPE_CHECKING:
    from strictwire.stores.files.config import TrailConfig
    from strictwire.stores.records import Filters
    from strictwire.stores.replay import RecordedCall

EXAMPLES: Final = """examples:
  strictwire audit verify                               exit 0 if the trail is intact; else 100 and the first bad record
  strictwire audit repair --reason 'restored from a backup'   continue a trail with a finding; recorded
  strictwire audit witness --file /mnt/elsewhere/checkpoints   let a second party see the newest checkpoint
  strictwire audit prove 1234 --out record.proof        write a proof that can be checked with the public key alone
  strictwire audit check record.proof --public-key audit.key.pub
  strictwire audit show --tool write_file --code HASH_MISMATCH --since 2026-11-01T00:00:00.000Z
  strictwire audit follow                               print new records as they are written
  strictwire audit export --format csv --out calls.csv
  strictwire audit prune --before 2026-01-01T00:00:00.000Z
  strictwire audit replay my_module:server              repeat recorded calls and report different results

exit codes: 0 success, 100 findings, 1 could not run, 2 wrong usage
"""

POLL_SECONDS: Final = 0.5
"""How often `follow` looks for new records."""


_NO_PROOF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "not_signed_yet": "no checkpoint covers this record: it does not exist, or the next checkpoint will sign it",
        "no_such_record": "no such record: it does not exist, or it was pruned",
        "no_such_checkpoint": "no checkpoint has this number of records",
        "damaged": "the trail is damaged at this record; run `strictwire audit verify`",
    }
)
"""The reasons of NoProof, as messages for the user."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND", parser_class=type(parser))
    add_verify(_verb(verbs, "verify", "check every record, the hash chain and the signatures"))
    add_repair(_verb(verbs, "repair", "continue a trail that was tampered with; the repair is recorded"))
    add_witness(_verb(verbs, "witness", "have the newest checkpoint seen and cosigned by a second party"))
    add_cosign(_verb(verbs, "cosign", "be that second party: answer one request from standard input"))
    prove = _verb(verbs, "prove", "write a proof that one record is in the trail")
    prove.add_argument("record", type=int, metavar="N", help="number of the record, from 0")
    prove.add_argument("--out", type=Path, metavar="FILE", help="write to this file instead of standard output")
    consistency = _verb(verbs, "consistency", "prove that a checkpoint only appends to an earlier one")
    consistency.add_argument("old", type=int, metavar="OLD", help="number of records of the earlier checkpoint")
    consistency.add_argument(
        "new", type=int, nargs="?", metavar="NEW", help="number of records of the later one (default: the last)"
    )
    consistency.add_argument("--out", type=Path, metavar="FILE", help="write to this file instead of standard output")
    check = _verb(verbs, "check", "check a proof, with the public key alone")
    check.add_argument("proof", type=Path, metavar="FILE")
    check.add_argument("--public-key", type=Path, metavar="FILE", help="default: the file beside the signing key")
    for name, summary in (("show", "print records"), ("follow", "print records as they are written")):
        _add_filters(_verb(verbs, name, summary))
    _add_filters(_verb(verbs, "stats", "count records by tool, code and principal"))
    export = _verb(verbs, "export", "export records for other programs")
    export.add_argument("--format", choices=("jsonl", "csv", "parquet"), default="jsonl", help="default: %(default)s")
    export.add_argument("--out", type=Path, required=True, metavar="FILE", help="output file")
    _add_filters(export)
    prune = _verb(verbs, "prune", "delete old records; the rest stays provable")
    prune.add_argument("--before", required=True, metavar="TIME", help="for example 2026-01-01T00:00:00.000Z")
    replay = _verb(verbs, "replay", "repeat recorded calls of read-only tools and report different results")
    replay.add_argument("server", metavar="MODULE:NAME", help="the strictwire.Server to call")
    _add_filters(replay)


def _verb(verbs: Any, name: str, summary: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + "."
    )
    parser.add_argument("--folder", type=Path, metavar="DIR", help="folder of the trail (default: audit.folder)")
    parser.add_argument("--worker", type=int, metavar="N", help="use the trail of worker N of a server with several workers")
    parser.add_argument("--key", type=Path, metavar="FILE", help="signing key (default: audit.key)")
    shared.add_config(parser)
    return parser


def _add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", metavar="TIME", help="records at or after this time")
    parser.add_argument("--until", metavar="TIME", help="records before this time")
    for name in ("tool", "code", "principal", "session", "kind"):
        parser.add_argument(f"--{name}", metavar=name.upper(), help=f"records with this {name}")


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand."""
    from strictwire.audit.checkpoint import NoteRefused
    from strictwire.audit.proof import ProofRefused
    from strictwire.settings.read import SettingsRefused
    from strictwire.stores.export import NoParquet
    from strictwire.stores.fault import LogFault
    from strictwire.stores.files.keys import KeyUnsafe
    from strictwire.stores.files.proofs import NoProof

    try:
        return _VERBS[arguments.verb](arguments, _trail(arguments))
    except SettingsRefused as exc:
        return _fail(arguments, str(exc), shared.USAGE)
    except ProofRefused as exc:
        return _fail(arguments, f"the proof is invalid: {exc}", FINDINGS)
    except NoProof as exc:
        return _fail(arguments, _NO_PROOF.get(exc.reason, exc.reason), COULD_NOT_RUN)
    except (NoParquet, LogFault, KeyUnsafe, NoteRefused) as exc:
        return _fail(arguments, str(exc) or type(exc).__doc__ or "", COULD_NOT_RUN)
    except OSError as exc:
        return _fail(arguments, f"{exc.filename or 'the trail'}: {exc.strerror}", COULD_NOT_RUN)
    except KeyboardInterrupt:
        return 0


def _fail(arguments: argparse.Namespace, text: str, exit_code: int) -> int:
    print(f"strictwire audit {arguments.verb}: {for_terminal(text)}", file=sys.stderr)
    return exit_code


def _trail(arguments: argparse.Namespace) -> TrailConfig:
    from dataclasses import replace

    from strictwire.server.compose import trail_of
    from strictwire.settings.read import read_settings

    found = trail_of(read_settings(file=arguments.config).audit)
    trail = replace(found, folder=arguments.folder or found.folder, key_path=arguments.key or found.key_path)
    return trail if arguments.worker is None else trail.for_worker(arguments.worker)


def _filters(arguments: argparse.Namespace) -> Filters:
    from strictwire.stores.records import Filters

    names = ("since", "until", "tool", "code", "principal", "session", "kind")
    return Filters(**{name: getattr(arguments, name) for name in names})


def _prove(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.proofs import prove_record

    return _write_proof(arguments, prove_record(trail.folder, public_key(trail), arguments.record))


def _prove_consistency(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.proofs import prove_growth

    proof = prove_growth(trail.folder, public_key(trail), old=arguments.old, new=arguments.new)
    return _write_proof(arguments, proof)


def _write_proof(arguments: argparse.Namespace, proof: bytes) -> int:
    if arguments.out is None:
        print(proof.decode(), end="")
    else:
        arguments.out.write_bytes(proof)
    return 0


def _check(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.audit.proof import CONSISTENCY, check_consistency, check_inclusion
    from strictwire.stores.files.keys import read_public_key

    key = read_public_key(arguments.public_key).for_log(trail.log) if arguments.public_key else public_key(trail)
    proof = arguments.proof.read_bytes()
    if proof.startswith(CONSISTENCY.encode()):
        extension = check_consistency(proof, key)
        print(f"ok: the checkpoint with {extension.new.size} records only appends to the one with {extension.old.size}")
        return 0
    found = check_inclusion(proof, key)
    print(f"ok: record {found.index} is one of the {found.checkpoint.size} signed records")
    print(for_json_line(found.line.decode().rstrip()))
    return 0


def _show(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.reading import read_trail

    for entry in read_trail(trail.folder, _filters(arguments)):
        print(for_json_line(entry.line.decode()))
    return 0


def _follow(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.reading import follow_trail

    for entry in follow_trail(trail.folder, _filters(arguments), wait=_pause):
        print(for_json_line(entry.line.decode()), flush=True)
    return 0


def _pause() -> bool:
    time.sleep(POLL_SECONDS)
    return True


def _stats(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.reading import read_trail
    from strictwire.stores.records import count_records

    stats = count_records(read_trail(trail.folder, _filters(arguments), progress=show_bytes))
    print(f"records      {stats.records} ({stats.size} bytes), {stats.first} to {stats.last}")
    print(f"malformed    {stats.malformed} inputs")
    print(f"unfinished   {stats.open_intents} calls with an intent record but no outcome record")
    print(f"slowest      {stats.slowest_us} us")
    for title, counter in (("tools", stats.tools), ("codes", stats.codes), ("principals", stats.principals)):
        for name, number in counter.most_common(20):
            print(f"{title:<12} {number:>8}  {for_terminal(name)}")
    return 0


def _export(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.export import EXPORTERS
    from strictwire.stores.files.reading import read_trail

    with arguments.out.open("wb") as target:
        number = EXPORTERS[arguments.format](read_trail(trail.folder, _filters(arguments), progress=show_bytes), target)
    print(f"wrote {number} records to {arguments.out}", file=sys.stderr)
    return 0


def _prune(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.prune import prune_trail

    pruned = prune_trail(trail, arguments.before, progress=show_bytes)
    print(f"deleted {pruned.removed} records; the trail now begins with record {pruned.first}")
    return 0


def _replay(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.cli.target import TargetRefused, load_server

    try:
        server = load_server(arguments.server)
    except TargetRefused as exc:
        return _fail(arguments, str(exc), shared.USAGE)
    return asyncio.run(_replay_with(server, _filters(arguments), trail))


async def _replay_with(server: Any, filters: Filters, trail: TrailConfig) -> int:
    from strictwire.contract.safety import is_callable_unasked
    from strictwire.stores.files.reading import read_trail
    from strictwire.stores.replay import Comparison, replay_calls

    tools = server.catalog.offers.registry.tools
    counts = dict.fromkeys(Comparison, 0)
    async with _reissuer(server) as reissue:
        entries = read_trail(trail.folder, filters)
        async for line in replay_calls(
            entries, is_idempotent=lambda name: name in tools and is_callable_unasked(tools[name].safety), reissue=reissue
        ):
            counts[line.comparison] += 1
            if line.comparison is not Comparison.SAME:
                print(for_terminal(f"{line.seq} {line.tool_name} {line.comparison.value} {line.reason}".rstrip()))
    print(", ".join(f"{number} {comparison.value}" for comparison, number in counts.items()))
    return FINDINGS if counts[Comparison.DIFFERENT] else 0


@asynccontextmanager
async def _reissuer(server: Any) -> AsyncIterator[Callable[[RecordedCall], Any]]:
    """A function that calls a tool through the whole pipeline. Recording in memory gives comparable digests."""
    from strictwire.pipeline.call import Caller
    from strictwire.server.testing import MemoryClient
    from strictwire.stores.memory.recorder import MemoryRecorder
    from strictwire.stores.replay import CallResult

    recorder = MemoryRecorder()
    async with MemoryClient(server, recorder=recorder, caller=Caller(tier="enterprise")) as client:

        async def reissue(call: RecordedCall) -> CallResult:
            await client.request("tools/call", {"name": call.tool_name, "arguments": call.arguments})
            record = recorder.records[-1]
            return CallResult(result_digest=record["result_digest"], error_code=record["error_code"])

        yield reissue


_VERBS: Final[Mapping[str, Callable[[argparse.Namespace, Any], int]]] = MappingProxyType(
    {
        **VERBS,
        "prove": _prove,
        "consistency": _prove_consistency,
        "check": _check,
        "show": _show,
        "follow": _follow,
        "stats": _stats,
        "export": _export,
        "prune": _prune,
        "replay": _replay,
    }
)
