"""Unpacks archives of packages (wheel, zip, tar) into a folder: regular files only, inside the folder, within limits.

Nothing of a package is executed. An archive that breaks a rule is refused as a whole.
"""

from __future__ import annotations

import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import IO, Final, TypeVar

from strictwire.packs.context.tar_stream import BadArchive, TarStream, open_tar_stream

MAX_FILES: Final = 200_000
"""Most files, folders and links of an archive; the largest packages have a tenth."""

MAX_BYTES: Final = 2 * 1024 * 1024 * 1024
"""Most bytes that an archive unpacks to. A small archive can contain much more."""

MAX_METADATA: Final = 1024 * 1024
"""Most bytes that describe one member of a tar file; usual are 512 to 2048. `tarfile` keeps them in memory."""

_USUAL_METADATA: Final = 2048
"""Bytes of headers and padding for each member that a tar file may have on top of MAX_BYTES."""

MAX_DEPTH: Final = 100
"""Most folders above a file. Deeper trees exceed the recursion limit of shutil.rmtree, and could not be removed."""

_UNREADABLE: Final = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
"""What the readers raise for damaged archives. ValueError: a name that is not UTF-8."""

ENDINGS: Final = (".whl", ".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar")


_TOO_LARGE: Final = "it has more than {} files or {} bytes"

_Member = TypeVar("_Member")
_Open = Callable[[], "AbstractContextManager[IO[bytes]]"]


def is_archive(path: Path) -> bool:
    """Return whether a file has the name of an archive."""
    return path.name.lower().endswith(ENDINGS)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack into an existing folder. Raises BadArchive, OSError."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                _write(_zip_members(opened), folder)
        else:
            with open_tar_stream(archive, limit=MAX_BYTES + MAX_FILES * _USUAL_METADATA) as stream:
                stream.allow(MAX_METADATA)
                with tarfile.open(fileobj=stream, mode="r:") as packed:
                    _write(_tar_members(packed, stream), folder)
    except _UNREADABLE as exc:
        raise BadArchive("the file is not a readable archive") from exc


def _zip_members(opened: zipfile.ZipFile) -> Iterator[tuple[str, int, _Open]]:
    for member in _counted(opened.infolist()):
        # The upper half of external_attr is the Unix mode; 0o12 in its highest digits is a symbolic link.
        if not member.is_dir() and member.external_attr >> 28 != 0o12:
            yield member.filename, member.file_size, lambda member=member: opened.open(member)  # type: ignore[misc]


def _tar_members(packed: tarfile.TarFile, stream: TarStream) -> Iterator[tuple[str, int, _Open]]:
    for member in _counted(_each_member(packed, stream)):
        if member.isreg():
            stream.allow(member.size)
            yield member.name, member.size, lambda member=member: _reader(packed, member)  # type: ignore[misc]


def _each_member(packed: tarfile.TarFile, stream: TarStream) -> Iterator[tarfile.TarInfo]:
    """Yield the members without keeping them: iterating over a TarFile would collect them all."""
    while (member := packed.next()) is not None:
        packed.members.clear()  # type: ignore[attr-defined]  # typeshed lacks it; `stream=True` needs Python 3.13
        yield member
        stream.allow(MAX_METADATA)


def _counted(members: Iterable[_Member]) -> Iterator[_Member]:
    """Raises BadArchive: too many members, whatever they are."""
    for count, member in enumerate(members, 1):
        if count > MAX_FILES:
            raise BadArchive(_TOO_LARGE.format(MAX_FILES, MAX_BYTES))
        yield member


def _reader(packed: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    found = packed.extractfile(member)
    if found is None:
        raise BadArchive("a member of the archive cannot be read")
    return found


def _write(members: Iterator[tuple[str, int, _Open]], folder: Path) -> None:
    left = MAX_BYTES
    for name, size, opener in members:
        left -= size
        if left < 0:
            raise BadArchive(_TOO_LARGE.format(MAX_FILES, MAX_BYTES))
        target = _place(name, folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        with opener() as source, target.open("xb") as file:
            shutil.copyfileobj(source, file, 1 << 20)


def _place(name: str, folder: Path) -> Path:
    """Return where a member goes. Raises BadArchive: the name leads out of the folder, or occurs twice."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or name.startswith(("/", "\\")) or ".." in parts or "\0" in name or ":" in parts[0]:
        raise BadArchive("a member of the archive lies outside its folder")
    if len(parts) > MAX_DEPTH:
        raise BadArchive(f"a member of the archive is in more than {MAX_DEPTH} folders")
    target = folder.joinpath(*parts)
    if target.exists():
        raise BadArchive("the archive has a member twice")
    return target
