"""`strictwire audit`: what was called, and the proof that nobody changed the record of it."""

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

from strictwire.cli import sourcing

if TYPE_CHECKING:
    from strictwire.stores.files.config import TrailConfig
    from strictwire.stores.records import Filters
    from strictwire.stores.replay import RecordedCall

EXAMPLES: Final = """examples:
  strictwire audit verify                               exit 0 if the trail holds, 100 if not, naming the first bad record
  strictwire audit prove 1234 --out record.proof        a proof that stands with the public key alone
  strictwire audit check record.proof --public-key audit.key.pub
  strictwire audit show --tool write_file --code HASH_MISMATCH --since 2026-11-01T00:00:00.000Z
  strictwire audit follow
  strictwire audit export --format csv --out calls.csv
  strictwire audit prune --before 2026-01-01T00:00:00.000Z
  strictwire audit replay my_module:server              call again what was recorded with its arguments

exit codes: 0 fine, 100 findings, 1 could not run, 2 usage
"""

FINDINGS: Final = 100
CANNOT: Final = 1
POLL_SECONDS: Final = 0.5


_NO_PROOF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "not_signed_yet": "no checkpoint signs for that record: it is not there, or so new that the next one will",
        "no_such_record": "there is no such record (any more)",
        "no_such_checkpoint": "there is no checkpoint of that size",
        "damaged": "the trail is damaged there; run strictwire audit verify",
    }
)
"""Why there is no proof, for people."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The verbs and their options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=type(parser))
    _verb(verbs, "verify", "check every record, the chain and the signatures")
    prove = _verb(verbs, "prove", "write a proof that one record is in the trail")
    prove.add_argument("record", type=int, metavar="N", help="the number of the record, from 0")
    prove.add_argument("--out", type=Path, metavar="FILE", help="write there instead of standard output")
    grow = _verb(verbs, "consistency", "prove that one checkpoint only added to an earlier one")
    grow.add_argument("old", type=int, metavar="OLD", help="how many records the earlier checkpoint signed for")
    grow.add_argument("new", type=int, nargs="?", metavar="NEW", help="the later one (default: the last)")
    grow.add_argument("--out", type=Path, metavar="FILE", help="write there instead of standard output")
    check = _verb(verbs, "check", "check a proof, with the public key alone")
    check.add_argument("proof", type=Path, metavar="FILE")
    check.add_argument("--public-key", type=Path, metavar="FILE", help="default: beside the signing key")
    for name, summary in (("show", "print records"), ("follow", "print records as they are made")):
        _add_filters(_verb(verbs, name, summary))
    _add_filters(_verb(verbs, "stats", "count records"))
    export = _verb(verbs, "export", "write records for other tools")
    export.add_argument("--format", choices=("jsonl", "csv", "parquet"), default="jsonl")
    export.add_argument("--out", type=Path, required=True, metavar="FILE")
    _add_filters(export)
    prune = _verb(verbs, "prune", "remove old records; the rest stays provable")
    prune.add_argument("--before", required=True, metavar="TIME", help="such as 2026-01-01T00:00:00.000Z")
    replay = _verb(verbs, "replay", "call recorded read-only tools again and report answers that differ")
    replay.add_argument("server", metavar="MODULE:NAME", help="the strictwire.Server to call")
    _add_filters(replay)


def _verb(verbs: Any, name: str, summary: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = verbs.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
    made.add_argument("--folder", type=Path, metavar="DIR", help="the trail (default: audit.folder of the settings)")
    made.add_argument("--worker", type=int, metavar="N", help="the trail of one worker of a server with several")
    made.add_argument("--key", type=Path, metavar="FILE", help="the signing key (default: audit.key of the settings)")
    sourcing.add_config(made)
    return made


def _add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", metavar="TIME", help="not before this time")
    parser.add_argument("--until", metavar="TIME", help="before this time")
    for name in ("tool", "code", "principal", "session", "kind"):
        parser.add_argument(f"--{name}", metavar=name.upper())


def run(arguments: argparse.Namespace) -> int:
    """Run one verb."""
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
        return _fail(arguments, str(exc), sourcing.USAGE)
    except ProofRefused as exc:
        return _fail(arguments, f"the proof does not hold: {exc}", FINDINGS)
    except NoProof as exc:
        return _fail(arguments, _NO_PROOF.get(exc.reason, exc.reason), CANNOT)
    except (NoParquet, LogFault, KeyUnsafe, NoteRefused) as exc:
        return _fail(arguments, str(exc) or type(exc).__doc__ or "", CANNOT)
    except OSError as exc:
        return _fail(arguments, f"{exc.filename or 'the trail'}: {exc.strerror}", CANNOT)
    except KeyboardInterrupt:
        return 0


def _fail(arguments: argparse.Namespace, text: str, exit_code: int) -> int:
    print(f"strictwire audit {arguments.verb}: {text}", file=sys.stderr)
    return exit_code


def _trail(arguments: argparse.Namespace) -> TrailConfig:
    from dataclasses import replace

    from strictwire.server.compose import trail_of, worker_folder
    from strictwire.settings.read import read_settings

    trail = trail_of(read_settings(file=arguments.config).audit)
    folder = arguments.folder or trail.folder
    if arguments.worker is not None:
        folder = worker_folder(folder, arguments.worker)
    return replace(trail, folder=folder, key_path=arguments.key or trail.key_path)


def _filters(arguments: argparse.Namespace) -> Filters:
    from strictwire.stores.records import Filters

    names = ("since", "until", "tool", "code", "principal", "session", "kind")
    return Filters(**{name: getattr(arguments, name) for name in names})


def _public_key(trail: TrailConfig) -> Any:
    from strictwire.stores.files.keys import public_path, read_public_key

    return read_public_key(public_path(trail.key_path))


def _verify(_arguments: argparse.Namespace, trail: TrailConfig) -> int:
    """The trail, and those of the workers beside it: every one of them has to hold."""
    from dataclasses import replace

    from strictwire.server.compose import worker_folders
    from strictwire.stores.files.layout import ACTIVE

    workers = [replace(trail, folder=folder) for folder in worker_folders(trail.folder)]
    if not workers:
        return _verify_one(trail)
    codes = [0] if not (trail.folder / ACTIVE).exists() else [_verify_one(trail)]
    for each in workers:
        print(f"{each.folder.name}: ", end="")
        codes.append(_verify_one(each))
    return max(codes)


def _verify_one(trail: TrailConfig) -> int:
    from strictwire.stores.files.verify import verify_trail

    anchor = trail.anchor_path
    verdict = verify_trail(
        trail.folder, _public_key(trail), anchor=anchor if anchor.is_file() else None, progress=_show_bytes
    )
    if verdict.finding is not None:
        print(f"BROKEN: {verdict.finding}")
        return FINDINGS
    print(
        f"ok: {verdict.size - verdict.first} records from {verdict.first}, {verdict.signed} signed for by "
        f"{verdict.checkpoints} checkpoints, root {verdict.root.hex()}"
    )
    if verdict.torn:
        print(f"{verdict.torn} bytes of an unfinished line at the end: the next start sets them aside")
    return 0


def _prove(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.proofs import prove_record

    return _write_proof(arguments, prove_record(trail.folder, _public_key(trail), arguments.record))


def _prove_growth(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.proofs import prove_growth

    proof = prove_growth(trail.folder, _public_key(trail), old=arguments.old, new=arguments.new)
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

    key = read_public_key(arguments.public_key) if arguments.public_key else _public_key(trail)
    proof = arguments.proof.read_bytes()
    if proof.startswith(CONSISTENCY.encode()):
        grown = check_consistency(proof, key)
        print(f"ok: the checkpoint of {grown.new.size} records only added to that of {grown.old.size}")
        return 0
    found = check_inclusion(proof, key)
    print(f"ok: record {found.index} is one of the {found.checkpoint.size} that were signed for")
    print(found.line.decode().rstrip())
    return 0


def _show(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.reading import read_trail

    for entry in read_trail(trail.folder, _filters(arguments)):
        print(entry.line.decode())
    return 0


def _follow(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.reading import follow_trail

    for entry in follow_trail(trail.folder, _filters(arguments), wait=_pause):
        print(entry.line.decode(), flush=True)
    return 0


def _pause() -> bool:
    time.sleep(POLL_SECONDS)
    return True


def _stats(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.reading import read_trail
    from strictwire.stores.records import count_records

    stats = count_records(read_trail(trail.folder, _filters(arguments), progress=_show_bytes))
    print(f"records      {stats.records} ({stats.size} bytes), {stats.first} to {stats.last}")
    print(f"malformed    {stats.malformed} inputs counted")
    print(f"unfinished   {stats.open_intents} calls with an intent and no outcome")
    print(f"slowest      {stats.slowest_us} us")
    for title, counter in (("tools", stats.tools), ("codes", stats.codes), ("principals", stats.principals)):
        for name, number in counter.most_common(20):
            print(f"{title:<12} {number:>8}  {name}")
    return 0


def _export(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.export import EXPORTERS
    from strictwire.stores.files.reading import read_trail

    with arguments.out.open("wb") as target:
        number = EXPORTERS[arguments.format](read_trail(trail.folder, _filters(arguments), progress=_show_bytes), target)
    print(f"wrote {number} records to {arguments.out}", file=sys.stderr)
    return 0


def _prune(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.stores.files.prune import prune_trail

    pruned = prune_trail(trail, arguments.before, progress=_show_bytes)
    print(f"removed {pruned.removed} records; the trail begins with record {pruned.first}")
    return 0


def _replay(arguments: argparse.Namespace, trail: TrailConfig) -> int:
    from strictwire.cli.serve import load_server
    from strictwire.server.run import StartRefused

    try:
        server = load_server(arguments.server)
    except (ValueError, StartRefused) as exc:
        return _fail(arguments, str(exc), sourcing.USAGE)
    return asyncio.run(_replay_with(server, _filters(arguments), trail))


async def _replay_with(server: Any, filters: Filters, trail: TrailConfig) -> int:
    from strictwire.stores.files.reading import read_trail
    from strictwire.stores.replay import Comparison, replay_calls

    tools = server.catalog.offers.registry.tools
    counts = dict.fromkeys(Comparison, 0)
    async with _reissuer(server) as reissue:
        entries = read_trail(trail.folder, filters)
        async for line in replay_calls(
            entries, is_idempotent=lambda name: name in tools and tools[name].safety.value == "read-only", reissue=reissue
        ):
            counts[line.comparison] += 1
            if line.comparison is not Comparison.SAME:
                print(f"{line.seq} {line.tool_name} {line.comparison.value} {line.reason}".rstrip())
    print(", ".join(f"{number} {comparison.value}" for comparison, number in counts.items()))
    return FINDINGS if counts[Comparison.DIFFERENT] else 0


@asynccontextmanager
async def _reissuer(server: Any) -> AsyncIterator[Callable[[RecordedCall], Any]]:
    """Calls through the whole pipeline, recorded in memory, so that the digest is made the same way."""
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
        "verify": _verify,
        "prove": _prove,
        "consistency": _prove_growth,
        "check": _check,
        "show": _show,
        "follow": _follow,
        "stats": _stats,
        "export": _export,
        "prune": _prune,
        "replay": _replay,
    }
)


def _show_bytes(done: int, total: int) -> None:
    sourcing.show_progress(done >> 20, total >> 20)
