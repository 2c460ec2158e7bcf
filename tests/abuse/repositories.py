"""Repositories with several hostile settings at once, damaged files, links to the outside, and objects that inflate."""

from __future__ import annotations

import hashlib
import json
import shutil
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.abuse import json_text
from tests.abuse.arena import MEGABYTE, Arena, Attack
from tests.abuse.governed import Workspace, open_workspace
from tests.packs.workspace.hostile_git import HOSTILE, git, start

PARTS = ("HEAD", "config", "index", "refs/heads/main", "objects", "refs", "packed-refs", "info", "logs", "refs/heads")
FILES = ("HEAD", "config", "index", "refs/heads/main")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """Hostile settings by name, and what is done to the files of the repository. `outside` may not change."""

    settings: tuple[str, ...]
    spoil: Callable[[Path, Path], None] = lambda _git, _outside: None


def combined(random: Random) -> Repository:
    return Repository(settings=tuple(each.name for each in random.sample(HOSTILE, 4)))


def damaged(random: Random) -> Repository:
    seed = random.random()

    def spoil(folder: Path, _outside: Path) -> None:
        choices = Random(seed)
        loose = sorted((folder / "objects").glob("??/*"))
        for each in choices.sample([*(folder / name for name in FILES), *loose], 3):
            each.chmod(0o644)
            each.write_bytes(json_text.damage(each.read_bytes(), choices, 5))

    return Repository(settings=(random.choice(HOSTILE).name,), spoil=spoil)


def linked(random: Random) -> Repository:
    """A part of `.git` is a link to the outside."""
    part = random.choice(PARTS)

    def spoil(folder: Path, outside: Path) -> None:
        place, target = folder / part, outside / "linked"
        if place.is_dir():
            shutil.rmtree(place)
            target.mkdir()
        else:
            target.write_bytes(place.read_bytes() if place.exists() else b"")
            place.unlink(missing_ok=True)
        place.symlink_to(target)

    return Repository(settings=(), spoil=spoil)


def references(random: Random) -> Repository:
    """HEAD refers to a place that is not a branch."""
    text = random.choice([
        "ref: refs/heads/../../../../outside\n", "ref: /tmp/x\n", "ref: HEAD\n", "ref: refs/heads/" + "a/" * 2000 + "b\n",
        "ref: refs/heads/x\x00y\n", "0" * 40 + "\n", "ref: config\n", "ref: hooks/pre-commit\n", "x" * 9_000_000,
    ])  # fmt: skip
    return Repository(settings=(), spoil=lambda folder, _outside: (folder / "HEAD").write_bytes(text.encode()) and None)


def inflating(random: Random) -> Repository:
    """The last commit, its tree or its file is an object of a megabyte that inflates to half a gigabyte."""
    kind = random.choice([b"commit", b"tree", b"blob"])

    def spoil(folder: Path, _outside: Path) -> None:
        size = 512 * MEGABYTE
        packer = zlib.compressobj(1)
        raw = packer.compress(kind + b" %d\x00" % size)
        raw += b"".join(packer.compress(bytes(16 * MEGABYTE)) for _ in range(size // (16 * MEGABYTE))) + packer.flush()
        name = hashlib.sha1(raw[:100], usedforsecurity=False).hexdigest()
        target = folder / "objects" / name[:2] / name[2:]
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(raw)
        (folder / "refs/heads/main").write_text(name + "\n")

    return Repository(settings=(), spoil=spoil)


def check(case: Repository, arena: Arena) -> None:
    """A commit runs no program, changes nothing outside, and ends with a result or a failure that blames the repository."""
    workspace = open_workspace(arena)
    run = _program(workspace)
    by_name = {each.name: each for each in HOSTILE}
    first, *more = [by_name[name] for name in case.settings] or [by_name["core.fsmonitor"]]
    start(workspace.root, run, first)
    for each in more:
        for name, value in each.config.items():
            git(workspace.root, "config", name.replace("{run}", run), value.replace("{run}", run))
    case.spoil(workspace.root / ".git", workspace.outside)
    before = _contents(workspace.outside)
    under = workspace.approve()
    workspace.call("write_file", path="src/new.py", content="new = 1\n", **under)
    made = workspace.call("commit_phase", message="m", **under)

    assert _contents(workspace.outside) == before
    assert made.get("error_code") != "INTERNAL", json.dumps(made)[:500]


def _program(workspace: Workspace) -> str:
    """A program that leaves a mark."""
    run = workspace.outside / "run"
    run.write_text(f"#!/bin/sh\ntouch '{workspace.outside}/ran'\n")
    run.chmod(0o755)
    return str(run)


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in sorted(folder.rglob("*"))}


ATTACK = Attack(
    name="repositories",
    kinds={
        "combined": combined,
        "damaged": damaged,
        "linked": linked,
        "references": references,
        "inflating": inflating,
    },
    check=check,
    lengthy=frozenset({"inflating"}),
)
