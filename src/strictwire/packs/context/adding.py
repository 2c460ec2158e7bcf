"""`context add NAME SOURCE`: makes or updates a named cache from a folder, an archive or a package."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import Final

from strictwire.canon.json import NotStrict, parse_object
from strictwire.packs.context.archives import ENDINGS, is_archive, unpack
from strictwire.packs.context.build import Built, Order, Progress, build
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.layout import render_time
from strictwire.packs.context.packages import NotDownloaded, Package, download, maybe_package
from strictwire.packs.context.sources import BadRegistry, NamedSource, is_source_name, read_sources, update_source
from strictwire.packs.context.survey import SourceRules
from strictwire.packs.context.tar_stream import BadArchive

_MAX_METADATA: Final = 1 << 20
"""Bytes of the metadata of a package that are read for its description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What to add. An empty title or description keeps the one that is known, or takes that of the package."""

    root: Path
    name: str
    source: str
    kinds: frozenset[str]
    rules: SourceRules
    title: str = ""
    description: str = ""


def add_source(addition: Addition, *, now: Callable[[], datetime], progress: Progress) -> tuple[Built, NamedSource]:
    """Build the cache of a source and remember where it came from. An existing cache of this name is replaced.

    Raises NotBuilt: IO_ERROR with the reason, and as `build` does.
    """
    if not is_source_name(addition.name):
        raise NotBuilt("IO_ERROR", "a name has letters, digits and @ _ + . - only", addition.name)
    try:
        read_sources(addition.root)  # A damaged list is found before the work of a build.
        with _tree(addition.source) as (tree, found):
            order = Order(
                sources=tree, output=addition.root / addition.name, force=True, kinds=addition.kinds, rules=addition.rules
            )
            built = build(order, now=now, progress=progress)
        added = update_source(
            addition.root, addition.name, lambda before: _describe_addition(addition, found, before, now())
        )
    except BadRegistry:
        raise NotBuilt(
            "IO_ERROR", "the list of sources is damaged; remove it to begin a new one", str(addition.root)
        ) from None
    except (NotDownloaded, BadArchive) as exc:
        raise NotBuilt("IO_ERROR", str(exc), addition.source) from exc
    except OSError as exc:
        raise NotBuilt("IO_ERROR", "the source could not be added", addition.source) from exc
    return built, added


def _describe_addition(addition: Addition, found: NamedSource, before: NamedSource, at: datetime) -> NamedSource:
    return replace(
        found,
        title=addition.title or before.title or addition.name,
        description=addition.description or found.description or before.description,
        added_at=render_time(at),
    )


@contextmanager
def _tree(source: str) -> Iterator[tuple[Path, NamedSource]]:
    """Yield the folder with the files of a source, and what is known about it. Raises NotDownloaded, BadArchive, OSError."""
    package = maybe_package(source)
    path = Path(source)
    if package is None and not path.exists():
        raise NotBuilt("IO_ERROR", "there is no such folder or archive", source)
    if package is None and not path.is_dir() and not is_archive(path):
        raise NotBuilt("IO_ERROR", f"a source is a folder, an archive ({', '.join(ENDINGS)}) or a package", source)
    if package is None and not path.is_file():
        yield path, NamedSource(source=str(path.absolute()))
        return
    with tempfile.TemporaryDirectory(prefix="strictwire-context-") as name:
        folder = Path(name) / "tree"
        folder.mkdir()
        if package is None:
            unpack(path, folder)
            yield _single_folder(folder), NamedSource(source=str(path.absolute()))
            return
        yield _fetch(package, Path(name), folder)


def _fetch(package: Package, work: Path, folder: Path) -> tuple[Path, NamedSource]:
    downloads = work / "downloads"
    downloads.mkdir()
    archive, version = download(package, downloads)
    unpack(archive, folder)
    exact = replace(package, version=version)
    return _single_folder(folder), NamedSource(
        source=f"{package.registry}:{exact.wanted}", version=version, description=_describe(folder)
    )


def _single_folder(folder: Path) -> Path:
    """Return the only folder of an archive, as source distributions and npm packages have it; otherwise the whole tree."""
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


def _describe(folder: Path) -> str:
    """Return the summary of the package from its metadata; empty if there is none."""
    for metadata in sorted(folder.glob("*.dist-info/METADATA")):
        return str(BytesHeaderParser().parsebytes(_head(metadata)).get("Summary", ""))
    for manifest in sorted(folder.glob("*/package.json")):
        try:
            return str(parse_object(_head(manifest)).get("description", ""))
        except NotStrict:
            return ""
    return ""


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAX_METADATA)
