"""Which packages are on disk decides what is certain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.packs.unity.writer import ProjectBuilder, save_files
from tests.packs.unity.writer_settings import Package as Written

from strictwire.packs.unity.project.packages import Package
from strictwire.packs.unity.project.project import Project, open_project


def opened(root: Path, boundary: Path | None = None) -> Project:
    return open_project(root, boundary=boundary)


def test_every_kind_of_package_is_located(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.packages = [
        Written(name="com.a.absent"),
        Written(name="com.b.cached", version="2.0.0", where="cache", scripts=("A.cs",)),
        Written(name="com.c.embedded", where="embedded", scripts=("B.cs",)),
        Written(name="com.unity.modules.audio", where="builtin"),
        Written(name="com.unity.ugui", where="builtin"),
    ]
    project = opened(builder.save(tmp_path))

    assert dict(project.packages.known) == {
        "com.a.absent": Package(name="com.a.absent", version="1.0.0", source="registry", place=None),
        "com.b.cached": Package(
            name="com.b.cached", version="2.0.0", source="registry", place="Library/PackageCache/com.b.cached@2.0.0"
        ),
        "com.unity.modules.audio": Package(name="com.unity.modules.audio", version="1.0.0", source="builtin", place=None),
        "com.unity.ugui": Package(name="com.unity.ugui", version="1.0.0", source="builtin", place=None),
        "com.c.embedded": Package(name="com.c.embedded", version="", source="embedded", place="Packages/com.c.embedded"),
    }
    assert project.packages.absent == ("com.a.absent", "com.unity.ugui")
    assert not project.sees_everything


def test_a_cache_folder_of_newer_editors_has_a_hash_for_a_version(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.packages = [Written(name="com.b.cached", version="2.0.0")]
    root = builder.save(tmp_path)
    save_files(root, {"Library/PackageCache/com.b.cached@8b4b2a1f/a.txt": b""})

    assert opened(root).packages.is_complete


def test_a_cache_folder_of_another_version_does_not_count(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.packages = [Written(name="com.b.cached", version="2.0.0")]
    root = builder.save(tmp_path)
    save_files(root, {"Library/PackageCache/com.b.cached@1.9.0/a.txt": b""})

    assert opened(root).packages.absent == ("com.b.cached",)


def manifest(root: Path, dependencies: dict[str, str]) -> None:
    (root / "Packages" / "packages-lock.json").unlink()
    (root / "Packages" / "manifest.json").write_text(json.dumps({"dependencies": dependencies}))


def test_a_local_package_is_read_inside_the_boundary_alone(tmp_path: Path) -> None:
    root = ProjectBuilder().save(tmp_path / "repo" / "Game")
    save_files(
        tmp_path / "repo" / "shared", {"package.json": b"{}", "A.cs": b"", "A.cs.meta": b"guid: " + b"ab12" * 8 + b"\n"}
    )
    manifest(root, {"com.x.shared": "file:../../shared"})

    assert opened(root).packages.absent == ("com.x.shared",)
    inside = opened(root, tmp_path / "repo")
    assert inside.packages.is_complete
    assert inside.path_of("ab12" * 8) == "Packages/com.x.shared/A.cs"
    assert inside.read("Packages/com.x.shared/A.cs") == b""


@pytest.mark.parametrize("target", ["file:/etc", "file:../../../../../../etc", "file:C:/x", "file:"])
def test_a_package_path_cannot_lead_outside(tmp_path: Path, target: str) -> None:
    root = ProjectBuilder().save(tmp_path / "Game")
    manifest(root, {"com.x": target})
    project = opened(root)

    assert project.foreign == {}
    assert not project.packages.is_complete


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"dependencies": []}', b"\xff", b"{}", b'{"a":1,"a":2}'])
def test_a_broken_package_file_is_reported_and_nothing_is_certain(tmp_path: Path, raw: bytes) -> None:
    root = ProjectBuilder().save(tmp_path)
    (root / "Packages" / "packages-lock.json").write_bytes(raw)
    project = opened(root)

    assert list(project.packages.problems) == ["Packages/packages-lock.json"]
    assert not project.sees_everything


def test_a_project_without_a_package_list_may_use_any(tmp_path: Path) -> None:
    root = ProjectBuilder().save(tmp_path)
    for name in ("manifest.json", "packages-lock.json"):
        (root / "Packages" / name).unlink()

    assert not opened(root).packages.is_complete
