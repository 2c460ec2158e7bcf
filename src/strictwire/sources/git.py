"""Reads schema files at a git commit with plumbing commands: no shell, no checkout, no archive filters."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from strictwire.canon.json import MAX_BYTES
from strictwire.check.subject import ToolSet
from strictwire.sources.dump import parse_dump
from strictwire.sources.folder import build_folder
from strictwire.sources.lock import LOCK_NAME, parse_lock
from strictwire.sources.refused import NoSchemaFiles, SourceRefused

SECONDS: Final = 60
"""Time limit of one git command."""


def read_git(ref: str, path: Path) -> ToolSet:
    """The tools of a folder, a lock file or a dump at a commit. Raises SourceRefused."""
    label = f"git:{ref}:{path}"
    if ref.startswith("-") or not ref:
        raise SourceRefused(label, "not a git ref; use a branch, tag or commit")
    if path.suffix in (".json", ".lock"):
        raw = _single(ref, path, label)
        return parse_lock(raw, label) if path.name == LOCK_NAME else parse_dump(raw, label)
    for folder in (path / "tools", path):
        texts = _texts(ref, folder, label)
        if texts:
            return build_folder(texts, label=label, prefix=f"{folder}/")
    raise NoSchemaFiles(label, "no schema files in this folder at this commit")


def changed_files(ref: str, root: Path) -> frozenset[str]:
    """Paths relative to the repository root that differ from the commit, including untracked files."""
    label = f"git:{ref}"
    if ref.startswith("-") or not ref:
        raise SourceRefused(label, "not a git ref; use a branch, tag or commit")
    git = ["git", "-C", str(root)]
    changed = _run([*git, "diff", "--name-only", "-z", "--no-renames", "--end-of-options", ref, "--"], label)
    top = _run([*git, "rev-parse", "--show-toplevel"], label).decode().strip()
    untracked = _run(["git", "-C", top, "ls-files", "--others", "--exclude-standard", "-z"], label)
    return frozenset(name for name in (changed + untracked).decode("utf-8", "replace").split("\0") if name)


def _single(ref: str, path: Path, label: str) -> bytes:
    return _run(["git", "-C", str(path.parent), "cat-file", "blob", f"{ref}:./{path.name}"], label)


def _texts(ref: str, folder: Path, label: str) -> dict[str, bytes | None]:
    """The files directly in a folder, by name; None for a file that is larger than any schema may be."""
    existing = folder
    while not existing.is_dir():
        # The folder may exist at the commit but no longer in the working tree; git needs a folder that exists.
        existing = existing.parent
    inside = folder.relative_to(existing).as_posix()
    listing = _run(["git", "-C", str(existing), "ls-tree", "-l", "-z", "--end-of-options", ref, f"{inside}/"], label)
    texts: dict[str, bytes | None] = {}
    wanted: dict[str, str] = {}
    for line in listing.decode("utf-8", "replace").split("\0"):
        fields, _, name = line.partition("\t")
        _mode, kind, oid, size = fields.split() if name else ("", "", "", "0")
        if kind == "blob":
            texts[name.rpartition("/")[2]] = None
            wanted |= {name.rpartition("/")[2]: oid} if int(size) <= MAX_BYTES else {}
    return {**texts, **_blobs(existing, wanted, label)}


def _blobs(existing: Path, wanted: dict[str, str], label: str) -> dict[str, bytes]:
    """The contents of blobs, read by one process. The format is `<oid> blob <size>\n<content>\n` for each."""
    oids = "".join(f"{oid}\n" for oid in wanted.values()).encode()
    output = _run(["git", "-C", str(existing), "cat-file", "--batch"], label, oids) if wanted else b""
    found: dict[str, bytes] = {}
    at = 0
    for name in wanted:
        start = output.index(b"\n", at) + 1
        size = int(output[at:start].split()[-1])
        found[name] = output[start : start + size]
        at = start + size + 1
    return found


def _run(command: list[str], label: str, stdin: bytes = b"") -> bytes:
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=SECONDS, check=False)
    except FileNotFoundError as exc:
        raise SourceRefused(label, "git is not installed, or not in PATH") from exc
    except subprocess.TimeoutExpired as exc:
        raise SourceRefused(label, f"git did not finish within {SECONDS} s") from exc
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise SourceRefused(label, reason or f"git failed with exit code {done.returncode}")
    return done.stdout
