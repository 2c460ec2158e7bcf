"""Audit trails that were changed behind the back of the server, and forged proofs."""

from __future__ import annotations

import base64
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.abuse import json_text
from tests.abuse.arena import Arena, Attack, call
from tests.fixtures.guards import STRICTWIRE
from tests.fixtures.live import PATIENCE, StdioProcess, environment

FINDINGS = 100
CALLS = 20
LOG, CHECKPOINTS = "audit-log.jsonl", "audit-log.checkpoints"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tampering:
    """A change to the folder of a trail, or to a proof."""

    change_folder: Callable[[Path], object] | None = None
    change_proof: Callable[[bytes], bytes] | None = None


class Trail:
    """A trail that a real server has written and signed, at the same place for every case."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.pristine, self.older = (folder / name for name in ("audit", "pristine", "older"))
        self.config = folder / "settings.toml"
        self.config.write_text(f'[audit]\nfolder = "{self.folder}"\nkey = "{folder / "keys" / "key"}"\n')
        self._serve()
        shutil.copytree(self.folder, self.older)
        self._serve()
        shutil.copytree(self.folder, self.pristine)
        self.proof = self.run("prove", "7").stdout
        assert (self.run("verify").returncode, self.proof[:4]) == (0, b"c2sp")

    def restore(self) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(self.pristine, self.folder)

    def run(self, verb: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [STRICTWIRE, "audit", verb, *arguments, "--config", str(self.config)]
        return subprocess.run(command, env=environment(), capture_output=True, timeout=3 * PATIENCE, check=False)

    def _serve(self) -> None:
        """Start a server, make calls and end it, which signs the trail."""
        with StdioProcess("hard:server", "--config", str(self.config), env={"STRICTWIRE_AUDIT_MODE": "sync"}) as process:
            for number in range(CALLS):
                process.ask(call("add", number, a=1, b=number))
            process.end_input()
            process.rest()
            assert process.process.wait(PATIENCE) == 0


def change_lines(change: Callable[[list[bytes], Random], object]) -> Callable[[Random], Tampering]:
    """Change the records of the log."""

    def generate(random: Random) -> Tampering:
        seed = random.random()

        def apply(folder: Path) -> None:
            lines = (folder / LOG).read_bytes().splitlines(keepends=True)
            change(lines, Random(seed))
            (folder / LOG).write_bytes(b"".join(lines))

        return Tampering(change_folder=apply)

    return generate


def flip(lines: list[bytes], random: Random) -> None:
    at = random.randrange(len(lines))
    place = random.randrange(len(lines[at]) - 1)
    lines[at] = lines[at][:place] + bytes([lines[at][place] ^ random.randint(1, 255)]) + lines[at][place + 1 :]


def swap(lines: list[bytes], random: Random) -> None:
    one, other = random.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]


def cut(lines: list[bytes], random: Random) -> None:
    del lines[random.randrange(len(lines)) :]


def forge(damage: Callable[[bytes, Random], bytes]) -> Callable[[Random], Tampering]:
    """Change a proof."""

    def generate(random: Random) -> Tampering:
        seed = random.random()
        return Tampering(change_proof=lambda proof: damage(proof, Random(seed)))

    return generate


def another_byte(proof: bytes, random: Random) -> bytes:
    forged = proof
    while forged == proof:
        forged = json_text.damage(proof, random)
    return forged


def another_record(proof: bytes, random: Random) -> bytes:
    """The proof of one record, around another record."""
    head, extra, rest = proof.split(b"\n", 2)
    line = base64.b64decode(extra.removeprefix(b"extra "))
    forged = line.replace(b'"outcome":"ok"', b'"outcome":"' + bytes([random.randrange(97, 123)]) + b'"')
    return b"\n".join([head, b"extra " + base64.b64encode(forged), rest])


def another_index(proof: bytes, random: Random) -> bytes:
    return proof.replace(b"\nindex 7\n", b"\nindex %d\n" % random.choice([0, 6, 8, 39, 40, 10**30]))


def another_path(proof: bytes, random: Random) -> bytes:
    """Hashes removed, repeated or in another order."""
    head, blank, note = proof.partition(b"\n\n")
    lines = head.split(b"\n")
    hashes = lines[3:]
    changed = random.choice([hashes[1:], hashes[:-1], hashes[::-1], hashes + hashes[-1:], hashes * 10_000, []])
    return b"\n".join([*lines[:3], *changed]) + blank + note


def another_size(proof: bytes, random: Random) -> bytes:
    """A checkpoint of the same root and another number of records."""
    head, _, note = proof.partition(b"\n\n")
    origin, size, rest = note.split(b"\n", 2)
    return head + b"\n\n" + b"\n".join([origin, b"%d" % (int(size) + random.choice([-1, 1, 10**12])), rest])


def roll_back(folder: Path) -> None:
    """Replace the folder with an older state of itself."""
    shutil.rmtree(folder)
    shutil.copytree(folder.with_name("older"), folder)


def in_folder(apply: Callable[[Path], object]) -> Callable[[Random], Tampering]:
    return lambda _random: Tampering(change_folder=apply)


def empty_with_worker(folder: Path) -> None:
    """Everything is gone, and an empty folder of a worker is there."""
    shutil.rmtree(folder)
    (folder / "worker-0").mkdir(parents=True)


def trail_of(arena: Arena) -> Trail:
    if "trail" not in arena.kept:
        arena.kept["trail"] = Trail(arena.folder_for("trail"))
    found = arena.kept["trail"]
    assert isinstance(found, Trail)
    return found


def check(case: Tampering, arena: Arena) -> None:
    """`audit verify` reports the change, and `audit check` refuses the forged proof."""
    trail = trail_of(arena)
    if case.change_folder is not None:
        trail.restore()
        case.change_folder(trail.folder)
        done = trail.run("verify")
    if case.change_proof is not None:
        forged = case.change_proof(trail.proof)
        assert forged != trail.proof
        file = trail.config.with_name("forged.proof")
        file.write_bytes(forged)
        done = trail.run("check", str(file))

    assert done.returncode == FINDINGS, (done.returncode, done.stdout[:300], done.stderr[-300:])


ATTACK = Attack(
    name="trails",
    kinds={
        "flip": change_lines(flip),
        "remove": change_lines(lambda lines, random: lines.pop(random.randrange(len(lines)))),
        "swap": change_lines(swap),
        "repeat": change_lines(lambda lines, random: lines.insert(random.randrange(len(lines)), random.choice(lines))),
        "cut": change_lines(cut),
        "rollback": in_folder(roll_back),
        "no_checkpoints": in_folder(lambda folder: (folder / CHECKPOINTS).unlink()),
        "no_log": in_folder(lambda folder: (folder / LOG).unlink()),
        "empty_with_worker": in_folder(empty_with_worker),
        "forged_bytes": forge(another_byte),
        "forged_record": forge(another_record),
        "forged_index": forge(another_index),
        "forged_path": forge(another_path),
        "forged_size": forge(another_size),
    },
    check=check,
    lengthy=frozenset({"repeat", "no_log", "no_checkpoints", "forged_size"}),
    exceeding=frozenset({"empty_with_worker"}),
)
