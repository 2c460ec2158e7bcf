"""Reads schema files at a git commit with plumbing commands: no shell, no checkout, no archive filters.

`safe_git` runs them: nothing that the repository names is executed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from strictwire.canon.json import MAX_BYTES
from strictwire.check.subject import ToolSet
from strictwire.sources.dump import parse_dump
from strictwire.sources.folder import build_folder
from strictwire.sources.lock import LOCK_NAME, parse_lock
from strictwire.sources.refused import NoSchemaFiles, SourceRefused
from strictwire.sources.safe_git import run_git

_DIFF: Final = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")


def read_git(ref: str, path: Path) -> ToolSet:
    """The tools of a folder, a lock file or a dump at a commit. Raises SourceRefused."""
    label = f"git:{ref}:{path}"
    _require_commit(ref, _existing(path), label)
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
    _require_commit(ref, root, label)
    changed = run_git(root, [*_DIFF, "--end-of-options", ref, "--"], label=label)
    top = Path(run_git(root, ["rev-parse", "--show-toplevel"], label=label).decode().strip())
    untracked = run_git(top, ["ls-files", "--others", "--exclude-standard", "-z"], label=label)
    return frozenset(name for name in (changed + untracked).decode("utf-8", "replace").split("\0") if name)


def _require_commit(ref: str, folder: Path, label: str) -> None:
    """Raises SourceRefused if this clone does not have the commit, as shallow clones of CI do not."""
    if ref.startswith("-") or not ref.strip():
        raise SourceRefused(label, "not a git ref; use a branch, tag or commit")
    found = run_git(folder, ["cat-file", "--batch-check"], label=label, stdin=f"{ref}^{{tree}}\n".encode())
    if b" tree " not in found:
        reason = "this clone does not have the commit; check the name, or fetch the base (GitHub: `fetch-depth: 0` of "
        raise SourceRefused(label, f"{reason}actions/checkout, GitLab: `GIT_DEPTH: 0`)")


def _existing(folder: Path) -> Path:
    """The nearest folder that exists: git runs in it, also for one that exists only at the commit."""
    return folder if folder.is_dir() else _existing(folder.parent)


def _single(ref: str, path: Path, label: str) -> bytes:
    """The content of a file at a commit. Raises NoSchemaFiles if the commit exists and has no such file."""
    if not run_git(path.parent, ["ls-tree", "-z", "--end-of-options", ref, f"./{path.name}"], label=label):
        raise NoSchemaFiles(label, "this commit has no such file")
    name = f"{ref}:./{path.name}"
    if int(run_git(path.parent, ["cat-file", "-s", name], label=label)) > MAX_BYTES:
        raise SourceRefused(label, f"the file is larger than {MAX_BYTES} bytes")
    return run_git(path.parent, ["cat-file", "blob", name], label=label)


def _texts(ref: str, folder: Path, label: str) -> dict[str, bytes | None]:
    """The files directly in a folder, by name; None for a file that is larger than any schema may be."""
    existing = _existing(folder)
    inside = folder.relative_to(existing).as_posix()
    listing = run_git(existing, ["ls-tree", "-l", "-z", "--end-of-options", ref, f"{inside}/"], label=label)
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
    output = run_git(existing, ["cat-file", "--batch"], label=label, stdin=oids) if wanted else b""
    found: dict[str, bytes] = {}
    at = 0
    for name in wanted:
        start = output.index(b"\n", at) + 1
        size = int(output[at:start].split()[-1])
        found[name] = output[start : start + size]
        at = start + size + 1
    return found
