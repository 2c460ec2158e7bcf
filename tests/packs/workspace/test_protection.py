"""Protected files are found by their place on the disk, whatever root, name or way a session chooses."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.path import parse_path
from strictwire.packs.workspace import protection as module
from strictwire.packs.workspace.file_operations import make_folders, move_file, remove_file
from strictwire.packs.workspace.protected_paths import is_inside, is_protected
from strictwire.packs.workspace.protection import Protection, set_aside

PLAN = f"{'a' * 64}.md"


def project(folder: Path) -> Path:
    """Create a project with a repository, plans, and repositories of other kinds."""
    root = folder / "p"
    for name in ("docs/plans", "docs/reports", "src", "vendor/docs/plans", "vendor/docs/reports"):
        (root / name).mkdir(parents=True)
    for repository in (".git", "vendor/.git", "mirror"):
        for name in ("hooks", "objects", "refs"):
            (root / repository / name).mkdir(parents=True)
        (root / repository / "HEAD").write_text("ref: refs/heads/main\n")
        (root / repository / "config").touch()
    (root / f"docs/plans/{PLAN}").touch()
    (root / ".strictwire").mkdir()
    for name in ("strictwire.toml", "src/audit-log.jsonl", "src/strictwire.lock"):
        (root / name).touch()
    return root


PROTECTED = [
    ".git/hooks/x", ".git/config", ".strictwire/x", "strictwire.toml", "src/strictwire.toml", "src/strictwire.lock",
    "src/audit-log.jsonl", "docs/plans/x", "docs/reports/x", "vendor/.git/hooks/x", "vendor/docs/plans/x",
    "mirror/hooks/x", "mirror/config", "mirror/objects/x", "src/new/.git", "Docs/Plans/x", ".GIT/x",
]  # fmt: skip
OPEN = ["src/x", "docs/x", "docs/other/plans", "src/docs/plans/x", "vendor/x", ".github/x", ".gitignore", "mirror.txt"]


def views(root: Path) -> dict[str, Callable[[str], tuple[Path, str] | None]]:
    """Return the ways to name a file: from the root, from above, and from the folder of the file."""

    def from_folder(path: str) -> tuple[Path, str] | None:
        folder = (root / path).parent
        return (folder, (root / path).name) if folder.is_dir() else None

    return {
        "root": lambda path: (root, path),
        "above": lambda path: (root.parent, f"p/{path}"),
        "folder": from_folder,
    }


def files_in(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if not path.is_dir()}


def attempt(root: Path, path: str) -> str | None:
    """Try to create a file through a guarded jail. Returns the code of the refusal."""
    protection = Protection(str(root))
    with Jail(root) as own:
        jail = own.guarded(protection)
        try:
            with_folder = jail.enter(".")
            protection.check_folder(with_folder.descriptor, parse_path("."))
            with_folder.close()
            make_folders(jail, parse_path(path))
            jail.write(path, b"x")
        except Refused as exc:
            return exc.failure.code
    return None


@pytest.mark.parametrize("view", ["root", "above", "folder"])
@pytest.mark.parametrize("path", PROTECTED)
def test_a_protected_path_cannot_be_written_from_any_root(tmp_path: Path, view: str, path: str) -> None:
    root = project(tmp_path)
    before = files_in(tmp_path)
    named = views(root)[view](path)
    if named is not None:
        assert attempt(*named) == "PLAN_SCOPE_VIOLATION"

    assert files_in(tmp_path) == before


@pytest.mark.parametrize("view", ["root", "above", "folder"])
@pytest.mark.parametrize("path", OPEN)
def test_other_paths_stay_open(tmp_path: Path, view: str, path: str) -> None:
    named = views(project(tmp_path))[view](path)

    assert named is None or attempt(*named) is None


def test_a_protected_file_can_be_neither_moved_nor_removed_nor_replaced(tmp_path: Path) -> None:
    root = project(tmp_path)
    with Jail(root) as own:
        jail = own.guarded(Protection(str(root)))
        for change in (
            lambda: remove_file(jail, parse_path("strictwire.toml")),
            lambda: move_file(jail, parse_path("strictwire.toml"), parse_path("src/x")),
            lambda: move_file(jail, parse_path("src/strictwire.lock"), parse_path("src/x")),
            lambda: remove_file(jail, parse_path(f"docs/plans/{PLAN}")),
            lambda: remove_file(jail, parse_path(".git/HEAD")),
        ):
            with pytest.raises(Refused) as caught:
                change()
            assert caught.value.failure.code == "PLAN_SCOPE_VIOLATION"


@pytest.mark.parametrize(
    ("root", "is_usable"),
    [
        (".", True), ("src", True), ("docs", True), ("vendor", True), (".git", False), (".git/hooks", False),
        ("docs/plans", False), ("docs/reports", False), ("mirror", False), ("mirror/hooks", False), (".strictwire", False),
    ],
)  # fmt: skip
def test_a_protected_folder_is_no_root(tmp_path: Path, root: str, is_usable: bool) -> None:
    chosen = project(tmp_path) / root
    state = tmp_path / "state"
    state.mkdir()
    handle = os.open(chosen, os.O_RDONLY | os.O_DIRECTORY)
    problem = Protection(str(chosen.resolve())).find_root_problem(handle, private=[state])
    os.close(handle)

    assert (problem is None) == is_usable


def test_the_state_of_the_server_is_neither_in_a_root_nor_around_it(tmp_path: Path) -> None:
    inner = tmp_path / "a/b/c"
    inner.mkdir(parents=True)
    for root, state in ((tmp_path / "a", inner), (inner, tmp_path / "a"), (inner, inner)):
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        problem = Protection(str(root)).find_root_problem(handle, private=[state])
        os.close(handle)
        assert problem is not None
        assert "keys or logs of this server" in problem


def test_a_scan_finds_what_is_protected_and_notices_every_change(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / ".strictwire-00ff").touch()
    before = Protection(str(root)).scan()

    assert set(before.marks) == {
        ".git", ".strictwire", "strictwire.toml", "src/strictwire.lock", "src/audit-log.jsonl", "docs/plans", "docs/reports",
        "vendor/.git", "vendor/docs/plans", "vendor/docs/reports", "mirror",
    }  # fmt: skip
    assert before.temporary == (".strictwire-00ff",)
    (root / "strictwire.toml").write_text("x")
    (root / "docs/plans").rename(root / "docs/other")
    (root / "docs/plans").mkdir()
    after = Protection(str(root)).scan()
    changed = {path for path in before.marks if before.marks[path] != after.marks.get(path)}
    assert changed == {"strictwire.toml", "docs/plans"}


def test_a_scan_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path)
    for limit in ("MAX_SCANNED", "MAX_PINS"):
        with monkeypatch.context() as patched:
            patched.setattr(module, limit, 3)
            with pytest.raises(Refused) as caught:
                Protection(str(root)).scan()
        assert (caught.value.failure.code, caught.value.failure.details["reason"]) == ("PREFLIGHT_FAILED", "too_large")


def test_what_was_planted_is_renamed_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/.git").touch()
    work = tmp_path / "work"
    (work / "a\udcff").mkdir(parents=True)
    (work / "a\udcff/.git").touch()
    (work / "link").symlink_to(tmp_path / "outside")
    handle = os.open(work, os.O_RDONLY | os.O_DIRECTORY)
    aside = set_aside(handle, "a\udcff/.git")

    assert aside is not None
    assert [path.name for path in (work / "a\udcff").iterdir()] == [aside]
    assert set_aside(handle, "absent/.git") is None
    assert set_aside(handle, "link/.git") is None
    os.close(handle)
    assert (tmp_path / "outside/.git").exists()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("w/docs/plans/x", True), ("w/docs/plans", True), ("w/docs", True), ("w/docs/x", False), ("docs/plans/x", False),
        ("w/x/docs/plans/y", False), ("w/.git", True), ("x/.Git/y", True), ("w/strictwire.TOML", True), ("w/.gitx", False),
        ("w/.strictwire-1", True), ("w/src", False),
    ],
)  # fmt: skip
def test_names_are_judged_from_the_top(path: str, expected: bool) -> None:
    names = path.split("/")

    assert is_protected(names, lambda depth: names[:depth] == ["w"]) == expected
    assert not is_inside(("w",), lambda depth: depth == 0)
