"""Runs git commands that only read, so that the repository runs no program of its choice.

A repository can come from anywhere, and its `.git/config` names programs: hooks, filters, a file system monitor, external
diffs, commands of remotes. Settings in the environment beat those of the repository, so every one of them is set there. The
names of filters are the repository's own; they are listed first, by a command that runs none of them.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from strictwire.sources.refused import SourceRefused

SECONDS: Final = 60
"""Time limit of one git command."""

_SAFE: Final[Mapping[str, str]] = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.pager": "cat",
    "core.sshCommand": "false",
    "core.askPass": "",
    "credential.helper": "",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "diff.external": "",
    "diff.ignoreSubmodules": "all",
    "submodule.recurse": "false",
}
"""Settings of git, set for every command."""

_ENVIRONMENT: Final[Mapping[str, str]] = {
    "GIT_OPTIONAL_LOCKS": "0",  # the index is not written, so no hook follows
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # beats `protocol.*.allow`: a missing object is not fetched from a remote
    "GIT_TERMINAL_PROMPT": "0",
}

_FILTERS: Final = (
    "config",
    "--null",
    "--name-only",
    "--includes",
    "--get-regexp",
    r"^filter\..*\.(clean|smudge|process|required)$",
)


def run_git(folder: Path, arguments: Sequence[str], *, label: str, stdin: bytes = b"") -> bytes:
    """The output of a git command in a folder. Raises SourceRefused."""
    filters = _run(folder, _FILTERS, _SAFE, label=label, stdin=b"", allowed=(0, 1))
    names = {name for name in filters.decode("utf-8", "surrogateescape").split("\0") if name}
    off = {name: "false" if name.endswith(".required") else "" for name in names}
    return _run(folder, arguments, {**_SAFE, **off}, label=label, stdin=stdin, allowed=(0,))


def _run(
    folder: Path, arguments: Sequence[str], settings: Mapping[str, str], *, label: str, stdin: bytes, allowed: Sequence[int]
) -> bytes:
    program = shutil.which("git")
    if program is None:
        raise SourceRefused(label, "git is not installed, or not in PATH")
    # `env` adds to the environment of this process, which belongs to the user and is not read here.
    command = ["env", *(f"{name}={value}" for name, value in {**_ENVIRONMENT, **_numbered(settings)}.items())]
    command += [program, "-C", str(folder), "--no-pager", *arguments]
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=SECONDS, check=False)
    except FileNotFoundError as exc:
        raise SourceRefused(label, "the program env is not in PATH") from exc
    except subprocess.TimeoutExpired as exc:
        raise SourceRefused(label, f"git did not finish within {SECONDS} s") from exc
    if done.returncode not in allowed:
        reason = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise SourceRefused(label, reason or f"git failed with exit code {done.returncode}")
    return done.stdout


def _numbered(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings as git reads them from its environment, whatever characters a name has."""
    numbered = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        numbered |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return numbered
