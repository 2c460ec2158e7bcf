"""The code bases that the policy is measured on: exact versions from PyPI and npm, each in its own folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.peers import BENCH
from strictwire.packs.workspace.policy.languages import maybe_language
from strictwire.packs.workspace.policy.policy import MAX_CHECKED

FOLDER: Final = BENCH / "policy"

NOT_BUILT: Final = dict.fromkeys(
    ("WANDB_BUILD_UNIVERSAL", "WANDB_BUILD_SKIP_NVIDIA", "WANDB_BUILD_SKIP_APPLE", "WANDB_BUILD_SKIP_GPU_STATS"), "true"
)
"""Environment variables that prevent packages from being built while their source is downloaded."""

NPM_TREE: Final = (
    "react-native@0.72.17",
    "webpack@5.99.9",
    "vite@6.3.5",
    "jest@29.7.0",
    "express@4.21.2",
    "@nestjs/core@10.4.15",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """One code base."""

    name: str
    packages: tuple[str, ...]
    way: str
    """`wheel`, `sdist` or `npm`."""
    before: str = ""
    """An older release, to check real changes."""

    @property
    def folder(self) -> Path:
        """The folder of the code base."""
        return FOLDER / self.name.replace(" ", "-").lower()

    @property
    def folder_before(self) -> Path:
        """The folder of the older release."""
        return self.folder.with_name(f"{self.folder.name}-before")

    def files(self) -> Iterator[Path]:
        """Every source file that the policy can check. Declaration files (`.d.ts`) contain no code."""
        for path in sorted(self.folder.rglob("*")):
            if path.is_symlink() or not path.is_file() or path.name.endswith(".d.ts"):
                continue
            if maybe_language(path.name) is not None and path.stat().st_size <= MAX_CHECKED:
                yield path


BASES: Final = (
    Base(name="SQLAlchemy", packages=("sqlalchemy==2.1.8",), way="wheel", before="sqlalchemy==2.0.20"),
    Base(name="Twisted", packages=("twisted==26.10.0",), way="wheel", before="twisted==22.10.0"),
    Base(name="Django", packages=("django==5.2.19",), way="wheel", before="django==4.2.11"),
    Base(name="pandas", packages=("pandas==3.1.1",), way="wheel"),
    Base(name="npm tree", packages=NPM_TREE, way="npm"),
    Base(
        name="Rust crates",
        packages=("tokenizers==0.13.3", "cryptography==42.0.8", "libcst==1.4.0"),
        way="sdist",
    ),
    Base(name="NumPy", packages=("numpy==1.24.4",), way="sdist"),
    Base(name="JPype", packages=("JPype1==1.5.0",), way="sdist"),
    Base(name="wandb", packages=("wandb==0.18.7",), way="sdist"),
)


def install() -> None:
    """Download what is missing. Safe to run again."""
    for base in BASES:
        _WAYS[base.way](base.folder, base.packages)
        if base.before:
            _WAYS[base.way](base.folder_before, (base.before,))


def _is_done(folder: Path, packages: tuple[str, ...]) -> bool:
    done = folder.with_name(f"{folder.name}.done")
    return done.exists() and done.read_text() == " ".join(packages)


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", arguments[0], "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, *arguments[1:]], env=dict(os.environ) | NOT_BUILT, check=True)


def _finish(folder: Path, packages: tuple[str, ...]) -> None:
    folder.with_name(f"{folder.name}.done").write_text(" ".join(packages))


def _install_wheels(folder: Path, packages: tuple[str, ...]) -> None:
    if not _is_done(folder, packages):
        _pip("install", "--target", str(folder), *packages)
        _finish(folder, packages)


def _unpack_sdists(folder: Path, packages: tuple[str, ...]) -> None:
    if _is_done(folder, packages):
        return
    _pip("download", "--no-binary", ":all:", "--dest", str(folder), *packages)
    for archive in folder.glob("*.tar.gz"):
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
    _finish(folder, packages)


def _install_npm(folder: Path, packages: tuple[str, ...]) -> None:
    if _is_done(folder, packages):
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"private": True}))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    npm = [
        "npm",
        "install",
        "--no-package-lock",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--loglevel=error",
        *packages,
    ]
    subprocess.run(npm, cwd=folder, env=dict(os.environ) | {"PATH": path}, check=True)
    _finish(folder, packages)


_WAYS: Final = {"wheel": _install_wheels, "sdist": _unpack_sdists, "npm": _install_npm}
