"""Caches for tests: written by the real builder, and broken by hand."""

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
    """A valid cache at folder/name."""
    sources = write_sources(folder / f".{name}-sources", contents)
    build(Order(sources=sources, output=folder / name), now=lambda: MOMENT)
    return folder / name


def edit_json(path: Path, **changes: object) -> None:
    value = parse_object(path.read_bytes())
    value.update(changes)
    path.write_bytes(render(value))


def the_document(cache: Path) -> Path:
    """The only document file."""
    (path,) = (cache / "documents").iterdir()
    return path


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that any user can enter; pytest's own is closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root reads everything: step down for the permission cases."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below, to show that nothing was written."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
