"""Runs git without a shell: arguments as a list, a minimal environment, no hooks, filters, signing or network.

A commit is built from objects (hash-object, update-index, write-tree, commit-tree, update-ref) in a separate index. So
nothing runs that the repository has configured for `add` or `commit`, and what others have staged stays staged.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.timestamps import render_timestamp

SECONDS: Final = 60.0
"""Time limit of one git command. Each command handles only a few objects."""

_PATH: Final = "/usr/local/bin:/usr/bin:/bin"

_OVERRIDES: Final = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "core.pager=cat", "core.editor=false",
    "commit.gpgSign=false", "protocol.allow=never", "gc.auto=0", "maintenance.auto=false", "core.logAllRefUpdates=true",
)  # fmt: skip
"""Settings that override those of the repository, so that git starts no other program."""

_IN_PROGRESS: Final = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
"""Names in `.git` that exist while a merge, cherry-pick, revert or rebase is in progress."""

_DIGITS: Final = {"sha1": 40, "sha256": 64}
"""Object format of the repository to the number of hex digits of an object name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """A file in a commit."""

    path: str
    data: bytes | None
    """None deletes the file."""
    is_executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Author and committer, and the time of the commit."""

    name: str
    seconds: float


class Repository:
    """The git repository of one workspace."""

    def __init__(self, root: str, jail: Jail) -> None:
        """Raises Refused: PATH_NOT_FOUND without a repository; FILE_WRITE_FAILED without git or during a merge."""
        if not _is_folder(jail, ".git"):
            text = "The workspace is not the root of a git repository: it has no folder .git; run git init in it"
            raise refuse("PATH_NOT_FOUND", text, "not_a_repository")
        found = shutil.which("git", path=_PATH)
        if found is None:
            raise refuse("FILE_WRITE_FAILED", f"git is not installed; expected it in {_PATH}", "git_missing")
        if any(_exists(jail, f".git/{name}") for name in _IN_PROGRESS):
            text = "A merge or rebase is in progress in the repository; finish or abort it first"
            raise refuse("FILE_WRITE_FAILED", text, "in_the_middle")
        self._program = found
        self._root = root

    def commit(self, blobs: Sequence[Blob], *, message: str, author: Author) -> str | None:
        """Commit exactly these files on the current branch. Returns the commit hash, or None if nothing differs.

        Raises Refused: FILE_WRITE_FAILED if git fails or the branch was changed in the meantime.
        """
        with tempfile.TemporaryDirectory(prefix="strictwire-git-") as home:
            git = _Git(program=self._program, root=self._root, home=home, author=author)
            nothing = "0" * _DIGITS.get(git.run("rev-parse", "--show-object-format"), 40)
            parent = git.maybe("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
            entries = b"".join(_entry(git, blob, nothing) for blob in blobs)
            git.run("read-tree", *(("HEAD",) if parent else ("--empty",)), index="own")
            git.run("update-index", "-z", "--index-info", given=entries, index="own")
            tree = git.run("write-tree", index="own")
            if parent and tree == git.run("rev-parse", f"{parent}^{{tree}}"):
                return None
            origin = ("-p", parent) if parent else ()
            made = git.run("commit-tree", tree, *origin, given=message.encode())
            git.run("update-ref", "-m", f"commit: {message.splitlines()[0]}", "HEAD", made, parent or nothing)
            # The work tree already has these contents. Without this, git would show them as staged for reversal.
            git.maybe("update-index", "-z", "--index-info", given=entries)
            return made


@dataclass(frozen=True, slots=True, kw_only=True)
class _Git:
    program: str
    root: str
    home: str
    author: Author

    def run(self, *arguments: str, given: bytes = b"", index: str | None = None) -> str:
        """Run a git command and return its output. Raises Refused: FILE_WRITE_FAILED."""
        done = self._start(arguments, given, index)
        if done.returncode != 0:
            raise refuse("FILE_WRITE_FAILED", f"git {arguments[0]} failed", "git_failed", exit_code=done.returncode)
        return done.stdout.decode("utf-8", "replace").strip()

    def maybe(self, *arguments: str, given: bytes = b"") -> str | None:
        """Run a git command. Returns None if it fails."""
        done = self._start(arguments, given, None)
        return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None

    def _start(self, arguments: tuple[str, ...], given: bytes, index: str | None) -> subprocess.CompletedProcess[bytes]:
        settings = [part for each in _OVERRIDES for part in ("-c", each)]
        try:
            return subprocess.run(
                [self.program, *settings, *arguments],
                input=given,
                capture_output=True,
                check=False,
                cwd=self.root,
                env=self._environment(index),
                timeout=SECONDS,
                start_new_session=True,
            )
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise refuse("FILE_WRITE_FAILED", f"git {arguments[0]} could not be run or took too long", "git_failed") from exc

    def _environment(self, index: str | None) -> dict[str, str]:
        made = {
            "PATH": _PATH,
            "HOME": self.home,
            "XDG_CONFIG_HOME": self.home,
            "LC_ALL": "C.UTF-8",
            "GIT_DIR": str(Path(self.root) / ".git"),
            "GIT_WORK_TREE": self.root,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
        }
        if index is not None:
            made["GIT_INDEX_FILE"] = str(Path(self.home) / index)
        name, when = self.author.name, render_timestamp(self.author.seconds)
        for who in ("AUTHOR", "COMMITTER"):
            made |= {f"GIT_{who}_NAME": name, f"GIT_{who}_EMAIL": f"{name}@localhost", f"GIT_{who}_DATE": when}
        return made


def _entry(git: _Git, blob: Blob, nothing: str) -> bytes:
    """Return one entry for `update-index --index-info`."""
    if blob.data is None:
        return b"0 %s\t%s\0" % (nothing.encode(), blob.path.encode())
    made = git.run("hash-object", "-w", "-t", "blob", "--no-filters", "--stdin", given=blob.data)
    mode = b"100755" if blob.is_executable else b"100644"
    return b"%s %s\t%s\0" % (mode, made.encode(), blob.path.encode())


def clean_name(name: str) -> str:
    """Return a principal in a form that git accepts as a name, without characters that end a name or a line."""
    return "".join(letter if letter.isalnum() or letter in "._:@+-" else "_" for letter in name) or "unknown"


def _is_folder(jail: Jail, path: str) -> bool:
    """Return whether the path is a real folder. A `.git` file or link leads to a repository outside the workspace."""
    try:
        jail.enter(path).close()
    except Refused:
        return False
    return True


def _exists(jail: Jail, path: str) -> bool:
    try:
        jail.stat(path)
    except Refused:
        return False
    return True
