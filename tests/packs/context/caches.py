"""Caches for tests: built by the real builder, and corrupted by hand."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from strictwire.canon.json import parse_object, render
from strictwire.packs.context.build import Order, build

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 6000, tzinfo=UTC)
NOBODY = 65534


def write_sources(root: Path, contents: Mapping[str, str | bytes]) -> Path:
    for name, content in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    root.mkdir(parents=True, exist_ok=True)
    return root


def make_cache(folder: Path, contents: Mapping[str, str | bytes], name: str = "cache") -> Path:
    """Build a valid cache at folder/name."""
    sources = write_sources(folder / f".{name}-sources", contents)
    build(Order(sources=sources, output=folder / name), now=lambda: MOMENT)
    return folder / name


def edit_json(path: Path, **changes: object) -> None:
    value = parse_object(path.read_bytes())
    value.update(changes)
    path.write_bytes(render(value))


def only_document_file(cache: Path) -> Path:
    """Return the only document file of a cache."""
    (path,) = (cache / "documents").iterdir()
    return path


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that any user can enter; pytest's temporary folders are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@contextmanager
def unprivileged() -> Iterator[None]:
    """Drop privileges for the permission cases, because root can read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below, to prove that nothing was written."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
