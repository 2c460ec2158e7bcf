"""Repositories whose configuration makes git run a program. Each names the git command that runs it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PLAIN = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_TERMINAL_PROMPT": "0",
}
"""Environment of a plain git, which reads the configuration of the repository and no other."""


def git(root: Path, *arguments: str) -> str:
    """Run git and return its output."""
    done = subprocess.run(["git", *arguments], cwd=root, env=PLAIN, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hostile:
    """One hostile configuration. `{run}` stands for a program that leaves a mark."""

    name: str
    trigger: Sequence[str]
    """Arguments with which plain git runs the program."""
    config: Mapping[str, str] = field(default_factory=dict)
    hook: str | None = None
    attributes: str = ""
    prepare: Callable[[Path, str], None] = lambda _root, _run: None
    """Changes the repository further."""
    is_usable: bool = True
    """Whether the repository is complete, so that a commit is possible."""


def start(root: Path, run: str, hostile: Hostile) -> None:
    """Create a repository with two branches, a changed file, and the hostile configuration."""
    git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("one\n")
    if hostile.attributes:
        (root / ".gitattributes").write_text(hostile.attributes)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    git(root, "branch", "other")
    (root / "a.txt").write_text("two\n")
    for name, value in hostile.config.items():
        git(root, "config", name.replace("{run}", run), value.replace("{run}", run))
    if hostile.hook:
        hook = root / ".git/hooks" / hostile.hook
        hook.parent.mkdir(exist_ok=True)
        hook.symlink_to(run)
    hostile.prepare(root, run)


def _missing(root: Path, _run: str) -> None:
    (root / ".git/refs/heads/main").write_text("1" * 40 + "\n")


def _hooks_elsewhere(root: Path, run: str) -> None:
    (root / "hooks").mkdir()
    (root / "hooks/pre-commit").symlink_to(run)
    git(root, "config", "core.hooksPath", "hooks")


def _included(root: Path, run: str) -> None:
    (root / "more.cfg").write_text(f'[core]\n\tfsmonitor = "{run}"\n')


def _worktree_config(root: Path, run: str) -> None:
    git(root, "config", "core.repositoryFormatVersion", "1")
    git(root, "config", "extensions.worktreeConfig", "true")
    (root / ".git/config.worktree").write_text(f'[core]\n\tfsmonitor = "{run}"\n')


def _diverged(root: Path, _run: str) -> None:
    git(root, "commit", "-q", "-a", "-m", "second")
    git(root, "checkout", "-q", "other")
    (root / "a.txt").write_text("three\n")
    git(root, "commit", "-q", "-a", "-m", "third")


def _promisor(**config: str) -> dict[str, str]:
    base = {"core.repositoryFormatVersion": "1", "extensions.partialClone": "evil", "remote.evil.promisor": "true"}
    return base | {name.replace("__", "."): value for name, value in config.items()}


COMMIT = ("commit", "-q", "-a", "-m", "m")
NEEDS_HEAD = ("cat-file", "-e", "HEAD^{commit}")
EXT = "ext::{run}"

HOSTILE: Sequence[Hostile] = (
    *(
        Hostile(name=f"hook {name}", hook=name, trigger=trigger)
        for name, trigger in {
            "pre-commit": COMMIT,
            "prepare-commit-msg": COMMIT,
            "commit-msg": COMMIT,
            "post-commit": COMMIT,
            "reference-transaction": COMMIT,
            "post-index-change": COMMIT,
            "post-rewrite": ("commit", "-q", "--amend", "-m", "m"),
            "post-checkout": ("checkout", "-q", "-f", "other"),
            "pre-rebase": ("rebase", "--autostash", "--force-rebase", "other"),
            "pre-push": ("push", ".", "HEAD:refs/heads/new"),
            "update": ("push", ".", "HEAD:refs/heads/new"),
        }.items()
    ),
    Hostile(name="core.hooksPath", prepare=_hooks_elsewhere, trigger=COMMIT),
    Hostile(name="core.fsmonitor", config={"core.fsmonitor": "{run}"}, trigger=("status",)),
    Hostile(name="filter.clean", attributes="*.txt filter=x\n", config={"filter.x.clean": "{run}"}, trigger=("add", ".")),
    Hostile(
        name="filter.process", attributes="*.txt filter=x\n", config={"filter.x.process": "{run}"}, trigger=("add", ".")
    ),
    Hostile(
        name="filter.smudge",
        attributes="*.txt filter=x\n",
        config={"filter.x.smudge": "{run}"},
        trigger=("checkout", "-f", "HEAD", "--", "a.txt"),
    ),
    Hostile(
        name="remote ext", config=_promisor(remote__evil__url=EXT, protocol__ext__allow="always"), prepare=_missing,
        trigger=NEEDS_HEAD, is_usable=False,
    ),
    Hostile(
        name="url.insteadOf",
        config=_promisor(remote__evil__url="https://example.org/x", protocol__ext__allow="always")
        | {"url.ext::{run} .insteadOf": "https://example.org/"},
        prepare=_missing, trigger=NEEDS_HEAD, is_usable=False,
    ),
    Hostile(
        name="remote.vcs",
        config=_promisor(remote__evil__url="{run}", remote__evil__vcs="ext", protocol__ext__allow="always"),
        prepare=_missing, trigger=NEEDS_HEAD, is_usable=False,
    ),
    Hostile(
        name="core.sshCommand", config=_promisor(remote__evil__url="ssh://example.org/x", core__sshCommand="{run}"),
        prepare=_missing, trigger=NEEDS_HEAD, is_usable=False,
    ),
    Hostile(
        name="core.gitProxy", config=_promisor(remote__evil__url="git://example.org/x", core__gitProxy="{run}"),
        prepare=_missing, trigger=NEEDS_HEAD, is_usable=False,
    ),
    Hostile(
        name="remote.uploadpack", config=_promisor(remote__evil__url=".", remote__evil__uploadpack="{run}"),
        prepare=_missing, trigger=NEEDS_HEAD, is_usable=False,
    ),
    Hostile(
        name="remote.receivepack", config={"remote.x.url": ".", "remote.x.receivepack": "{run}"},
        trigger=("push", "x", "HEAD:refs/heads/new"),
    ),
    Hostile(name="gpg.program", config={"commit.gpgSign": "true", "gpg.program": "{run}"}, trigger=COMMIT),
    Hostile(
        name="gpg.ssh.program",
        config={"commit.gpgSign": "true", "gpg.format": "ssh", "user.signingKey": "key::x", "gpg.ssh.program": "{run}"},
        trigger=COMMIT,
    ),
    Hostile(
        name="gpg.ssh.defaultKeyCommand",
        config={"commit.gpgSign": "true", "gpg.format": "ssh", "gpg.ssh.defaultKeyCommand": "{run}"},
        trigger=COMMIT,
    ),
    Hostile(name="core.editor", config={"core.editor": "{run}"}, trigger=("commit", "-a")),
    Hostile(name="sequence.editor", config={"sequence.editor": "{run}"}, trigger=("rebase", "--autostash", "-i", "--root")),
    Hostile(name="alias", config={"alias.st": "!{run}"}, trigger=("st",)),
    Hostile(name="diff.external", config={"diff.external": "{run}"}, trigger=("diff",)),
    Hostile(name="diff.command", attributes="*.txt diff=x\n", config={"diff.x.command": "{run}"}, trigger=("diff",)),
    Hostile(name="diff.textconv", attributes="*.txt diff=x\n", config={"diff.x.textconv": "{run}"}, trigger=("diff",)),
    Hostile(
        name="merge.driver", attributes="*.txt merge=x\n", config={"merge.x.driver": "{run}"}, prepare=_diverged,
        trigger=("merge", "main"),
    ),
    Hostile(
        name="difftool", config={"diff.tool": "x", "difftool.x.cmd": "{run}", "difftool.prompt": "false"},
        trigger=("difftool",),
    ),
    Hostile(name="credential.helper", config={"credential.helper": "!{run}"}, trigger=("credential", "fill")),
    Hostile(
        name="trailer.command", config={"trailer.x.command": "{run}"},
        trigger=("commit", "-a", "-m", "m", "--trailer", "y=z"),
    ),
    Hostile(name="tar.command", config={"tar.x.command": "{run}"}, trigger=("archive", "--format=x", "HEAD")),
    Hostile(name="include.path", config={"include.path": "../more.cfg"}, prepare=_included, trigger=("status",)),
    Hostile(name="includeIf", config={"includeIf.gitdir:**.path": "../more.cfg"}, prepare=_included, trigger=("status",)),
    Hostile(name="config.worktree", prepare=_worktree_config, trigger=("status",)),
)  # fmt: skip


def program_in(folder: Path) -> str:
    """Write a program that leaves a mark."""
    folder.mkdir()
    run = folder / "run"
    run.write_text(f"#!/bin/sh\ntouch '{folder}/ran'\n")
    run.chmod(0o755)
    return str(run)
