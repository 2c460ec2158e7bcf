"""Git repositories for tests."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.packs.unity.writer import save_files


def git(root: Path, *arguments: str) -> str:
    """Run git as a user without settings of their own."""
    who = (
        "-c",
        "user.name=Test",
        "-c",
        "user.email=test@localhost",
        "-c",
        "commit.gpgSign=false",
        "-c",
        "core.autocrlf=false",
    )
    done = subprocess.run(["git", *who, *arguments], cwd=root, capture_output=True, check=True)
    return done.stdout.decode().strip()


def commit(root: Path, files: Mapping[str, bytes], tag: str) -> None:
    """Make the working tree hold exactly these files, commit it and tag the commit."""
    root.mkdir(parents=True, exist_ok=True)
    if not (root / ".git").exists():
        git(root, "init", "--quiet")
    for path in root.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    save_files(root, files)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", tag)
    git(root, "tag", tag)
