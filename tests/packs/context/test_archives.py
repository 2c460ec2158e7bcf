"""Archives: regular files inside the folder, within limits; everything else is refused or left out."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.packs.context.caches import snapshot

from strictwire.packs.context import archives as archives_module
from strictwire.packs.context.archives import is_archive, unpack
from strictwire.packs.context.tar_stream import BadArchive, TarStream, open_tar_stream


def make_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def make_tar(path: Path, members: dict[str, bytes | tarfile.TarInfo]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
                continue
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def test_wheels_and_tar_files_are_unpacked(tmp_path: Path, folder: Path) -> None:
    unpack(make_zip(tmp_path / "a.whl", {"pkg/a.py": b"a", "pkg/": b""}), folder)
    unpack(make_tar(tmp_path / "b.tgz", {"package/b.js": b"b"}), folder)

    assert snapshot(folder) == {"package/b.js": b"b", "pkg/a.py": b"a"}


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "\\evil", "..\\evil", "C:\\evil"])
def test_a_member_outside_the_folder_is_refused(tmp_path: Path, folder: Path, name: str) -> None:
    for archive in (make_zip(tmp_path / "a.zip", {name: b"x"}), make_tar(tmp_path / "a.tar.gz", {name: b"x"})):
        with pytest.raises(BadArchive):
            unpack(archive, folder)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar.gz", "a.zip", "out"]
    assert snapshot(folder) == {}


def test_links_and_devices_are_left_out(tmp_path: Path, folder: Path) -> None:
    archive = make_tar(
        tmp_path / "a.tar.gz",
        {
            "link": link("link", "/etc/passwd"),
            "hard": link("hard", "link", tarfile.LNKTYPE),
            "fifo": link("fifo", "", tarfile.FIFOTYPE),
            "a.md": b"x",
        },
    )
    unpack(archive, folder)

    assert [path.name for path in folder.iterdir()] == ["a.md"]


@pytest.mark.parametrize("limit", ["MAX_FILES", "MAX_BYTES"])
def test_limits_are_checked_before_a_file_is_written(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(archives_module, limit, 1)
    archive = make_zip(tmp_path / "a.zip", {"a": b"1", "b": b"22"})

    with pytest.raises(BadArchive):
        unpack(archive, folder)

    assert not (folder / "b").exists()


@pytest.mark.parametrize("raw", [b"", b"nonsense", b"PK\x03\x04 broken", b"\x1f\x8b broken"])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, folder: Path, raw: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(raw)

    with pytest.raises(BadArchive):
        unpack(tmp_path / "a.zip", folder)


def test_archives_are_known_by_their_names() -> None:
    assert [is_archive(Path(name)) for name in ("a.whl", "b.TGZ", "c.tar.gz", "d.md", "zip")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_tree_that_is_too_deep_is_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(BadArchive, match="more than 100 folders"):
        unpack(make_tar(tmp_path / "a.tar.gz", {"d/" * 400 + "x.md": b"x"}), folder)


def test_damaged_compressed_data_is_refused(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.md", "alpha " * 5000)
    raw = bytearray(path.read_bytes())
    raw[45:60] = b"\xff" * 15
    path.write_bytes(raw)

    with pytest.raises(BadArchive, match="not a readable archive"):
        unpack(path, folder)


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path, folder: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"é.md": b"x"})
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xff"))

    with pytest.raises(BadArchive, match="not a readable archive"):
        unpack(path, folder)


@pytest.mark.parametrize("kind", ["", "gz", "bz2", "xz"])
def test_every_compression_of_tar_is_read(tmp_path: Path, folder: Path, kind: str) -> None:
    members = {f"a/{number}-{'long' * 60}.md": bytes([number]) * number * 70_000 for number in range(1, 8)}
    with tarfile.open(tmp_path / "a.tar", f"w:{kind}", format=tarfile.PAX_FORMAT) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    unpack(tmp_path / "a.tar", folder)

    assert snapshot(folder) == members


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_a_tar_file_that_ends_early_or_is_damaged_is_refused(tmp_path: Path, folder: Path, kind: str) -> None:
    with tarfile.open(tmp_path / "whole", f"w:{kind}") as archive:  # type: ignore[call-overload]
        member = tarfile.TarInfo("a.md")
        member.size = 300_000
        archive.addfile(member, io.BytesIO(random.Random(7).randbytes(member.size)))
    raw = (tmp_path / "whole").read_bytes()
    for bad in (raw[: len(raw) // 2], raw[:20] + b"\xff" * 60 + raw[80:]):
        (tmp_path / "a.tar").write_bytes(bad)
        with pytest.raises(BadArchive):
            unpack(tmp_path / "a.tar", folder)
        (folder / "a.md").unlink(missing_ok=True)


@pytest.mark.parametrize("kind", [tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.REGTYPE])
def test_every_member_of_a_tar_file_is_counted(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, kind: bytes
) -> None:
    monkeypatch.setattr(archives_module, "MAX_FILES", 9)
    names = [f"d{number}" for number in range(10)]
    fits = make_tar(tmp_path / "fits.tar.gz", {name: link(name, "", kind) for name in names[:9]})
    (tmp_path / "fits").mkdir()
    unpack(fits, tmp_path / "fits")

    with pytest.raises(BadArchive, match="more than 9 files"):
        unpack(make_tar(tmp_path / "a.tar.gz", {name: link(name, "", kind) for name in names}), folder)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_huge_header_is_refused_before_it_is_read(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, kind: bytes
) -> None:
    header = tarfile.TarInfo("header")
    header.type, header.size = kind, 3 << 30
    with gzip.open(tmp_path / "a.tar.gz", "wb") as file:
        file.write(header.tobuf())
        file.write(bytes(2 << 20))
    ends: list[int] = []
    tell = TarStream.tell
    monkeypatch.setattr(TarStream, "tell", lambda self: ends.append(tell(self)) or ends[-1])

    with pytest.raises(BadArchive, match="larger than allowed"):
        unpack(tmp_path / "a.tar.gz", folder)
    assert max(ends) <= 512


def test_a_sparse_map_without_end_is_refused(tmp_path: Path, folder: Path) -> None:
    body = b"999999999\n" + b"1\n" * (1 << 20)
    member = tarfile.TarInfo("a.md")
    member.size = len(body)
    member.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "a.md"}
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member, io.BytesIO(body))

    with pytest.raises(BadArchive, match="larger than allowed"):
        unpack(tmp_path / "a.tar.gz", folder)


def test_skipped_members_count_towards_the_bytes(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives_module, "MAX_BYTES", 1000)
    monkeypatch.setattr(archives_module, "MAX_FILES", 1)
    header = tarfile.TarInfo("device")
    header.type, header.size = b"Z", 1 << 20
    with gzip.open(tmp_path / "a.tar.gz", "wb") as file:
        file.write(header.tobuf())
        file.write(bytes(1 << 21))

    with pytest.raises(BadArchive, match="more than"):
        unpack(tmp_path / "a.tar.gz", folder)


def test_a_stream_never_goes_back(tmp_path: Path) -> None:
    with open_tar_stream(make_tar(tmp_path / "a.tar.gz", {"a": b"x"}), limit=4096) as stream:
        stream.allow(512)
        stream.read(512)
        with pytest.raises(BadArchive, match="overlap"):
            stream.seek(0)
        with pytest.raises(BadArchive, match="larger than allowed"):
            stream.read(1)
