"""The jail: each code of the path and file groups from its real cause, the same for every kind of path lookup."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.packs.kit.conftest import INSIDE

from strictwire.fault.failure import Failure, Refused
from strictwire.packs.kit.jail import Jail, Kind, Listing, Part, RootProblem, RootRefused, best_resolution
from strictwire.packs.kit.root import Resolution

UNPRIVILEGED = Path(__file__).with_name("unprivileged.py")


def refusal(act: Callable[[], object]) -> Failure:
    with pytest.raises(Refused) as caught:
        act()
    return caught.value.failure


def verdict(act: Callable[[], object]) -> tuple[str, object]:
    failure = refusal(act)
    return failure.code, failure.details.get("reason")


def read(jail: Jail, path: str) -> tuple[str, object]:
    return verdict(lambda: jail.read(path, limit=1000))


def test_a_file_is_read_whole_and_in_parts(jail: Jail) -> None:
    assert jail.read("docs/note.txt", limit=len(INSIDE)) == INSIDE
    assert jail.read("./docs//note.txt", limit=1000) == INSIDE
    assert jail.read_part("top.txt", offset=2, count=3) == Part(data=b"sid", size=len(INSIDE))
    assert jail.read_part("top.txt", offset=100, count=3) == Part(data=b"", size=len(INSIDE))


def test_a_file_over_the_limit_is_refused_without_reading_it(jail: Jail, root: Path) -> None:
    with (root / "huge.bin").open("wb") as huge:
        huge.truncate(1 << 40)

    failure = refusal(lambda: jail.read("huge.bin", limit=1000))

    assert (failure.code, failure.details) == ("CAP_EXCEEDED", {"limitBytes": 1000})


def test_a_file_that_claims_to_be_empty_is_still_bounded() -> None:
    """Files in /proc report size 0 and have any length."""
    with Jail("/proc/self") as jail:
        assert refusal(lambda: jail.read("maps", limit=10)).code == "CAP_EXCEEDED"


@pytest.mark.clause("S12")
def test_malformed_paths_never_reach_the_disk(jail: Jail) -> None:
    assert read(jail, "") == ("INVALID_PATH", "empty")
    assert read(jail, "a\x00") == ("INVALID_PATH", "nul")
    assert read(jail, "a\udc80") == ("INVALID_PATH", "not_utf8")
    assert read(jail, "x" * 256) == ("INVALID_PATH", "too_long")
    assert read(jail, "docs/../top.txt") == ("PATH_TRAVERSAL_BLOCKED", None)
    assert read(jail, "../outside/note.txt") == ("PATH_TRAVERSAL_BLOCKED", None)


@pytest.mark.clause("S12")
def test_absolute_paths_are_outside_even_if_they_lead_inside(jail: Jail, root: Path) -> None:
    assert read(jail, str(root / "top.txt")) == ("OUTSIDE_WORKSPACE", "absolute")


@pytest.mark.clause("S12")
@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("../outside/note.txt", "link"),
        ("../outside", "link/note.txt"),
        ("docs/../../outside", "link/note.txt"),
        ("/etc", "link/hostname"),
        ("/nowhere", "link"),
        ("..", "link/outside/note.txt"),
        ("../workspace/../outside/note.txt", "link"),
    ],
)
def test_links_that_land_outside_are_outside(jail: Jail, root: Path, target: str, path: str) -> None:
    (root / "link").symlink_to(target)

    assert read(jail, path) == ("OUTSIDE_WORKSPACE", "link")
    assert verdict(lambda: jail.stat(path)) == ("OUTSIDE_WORKSPACE", "link")
    assert verdict(lambda: jail.list(path, limit=9)) == ("OUTSIDE_WORKSPACE", "link")


@pytest.mark.parametrize(
    ("target", "path"),
    [("docs/note.txt", "link"), ("docs", "link/note.txt"), ("docs/deep/..", "link/note.txt"), ("docs/", "link/note.txt")],
)
def test_links_that_stay_inside_are_followed_for_reading(jail: Jail, root: Path, target: str, path: str) -> None:
    (root / "link").symlink_to(target)

    assert jail.read(path, limit=1000) == INSIDE


@pytest.mark.clause("S12")
def test_a_missing_folder_is_told_apart_from_a_missing_file(jail: Jail) -> None:
    assert read(jail, "docs/none.txt") == ("FILE_NOT_FOUND", None)
    assert read(jail, "none.txt") == ("FILE_NOT_FOUND", None)
    assert read(jail, "none/note.txt") == ("PATH_NOT_FOUND", None)
    assert read(jail, "top.txt/note.txt") == ("PATH_NOT_FOUND", None)
    assert read(jail, "top.txt/") == ("PATH_NOT_FOUND", None)
    assert read(jail, "none/") == ("PATH_NOT_FOUND", None)
    assert verdict(lambda: jail.list("none", limit=9)) == ("PATH_NOT_FOUND", None)
    assert verdict(lambda: jail.list("top.txt", limit=9)) == ("PATH_NOT_FOUND", None)
    assert verdict(lambda: jail.stat("none")) == ("FILE_NOT_FOUND", None)
    assert verdict(lambda: jail.stat("none/x")) == ("PATH_NOT_FOUND", None)


def test_a_link_to_nothing_inside_is_a_missing_file(jail: Jail, root: Path) -> None:
    (root / "link").symlink_to("docs/none.txt")

    assert read(jail, "link") == ("FILE_NOT_FOUND", None)


@pytest.mark.clause("S12")
def test_what_is_no_file_is_refused_at_once_and_not_waited_for(jail: Jail, root: Path) -> None:
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket"))

        assert read(jail, "fifo") == ("FILE_READ_FAILED", "device")
        assert read(jail, "socket") == ("FILE_READ_FAILED", "device")
    assert read(jail, "docs") == ("FILE_READ_FAILED", "folder")
    assert read(jail, ".") == ("FILE_READ_FAILED", "folder")


def test_devices_are_refused(resolution: Resolution) -> None:
    with Jail("/dev", resolution) as jail:
        assert read(jail, "zero") == ("FILE_READ_FAILED", "device")
        assert jail.stat("zero").kind is Kind.OTHER


def test_links_in_a_circle_are_a_failure_to_read(jail: Jail, root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")

    assert read(jail, "a") == ("FILE_READ_FAILED", "link")


def test_the_failure_names_no_path_even_in_its_cause(jail: Jail, root: Path) -> None:
    (root / "secret-name").symlink_to("/secret-target")

    failure = refusal(lambda: jail.read("secret-name", limit=9))

    assert "secret" not in repr(failure)


def unprivileged(root: Path, resolution: Resolution, operation: str, path: str) -> str:
    command = [sys.executable, str(UNPRIVILEGED), str(root), resolution.value, operation, path]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


@pytest.mark.slow
@pytest.mark.clause("S12")
def test_missing_rights_are_a_failure_to_read_or_write(root: Path, resolution: Resolution) -> None:
    (root / "docs" / "note.txt").chmod(0)
    (root / "shut").mkdir()
    (root / "shut" / "x").write_bytes(INSIDE)
    (root / "shut").chmod(0)
    (root / "docs" / "deep").chmod(0o555)

    assert unprivileged(root, resolution, "read", "top.txt") == "ok"
    assert unprivileged(root, resolution, "read", "docs/note.txt") == "FILE_READ_FAILED permission"
    assert unprivileged(root, resolution, "read", "shut/x") == "FILE_READ_FAILED permission"
    assert unprivileged(root, resolution, "list", "shut") == "FILE_READ_FAILED permission"
    assert unprivileged(root, resolution, "stat", "shut/x") == "FILE_READ_FAILED permission"
    assert unprivileged(root, resolution, "write", "docs/deep/new") == "FILE_WRITE_FAILED permission"
    assert unprivileged(root, resolution, "write", "shut/x") == "FILE_WRITE_FAILED permission"


def test_stat_needs_no_read_permission(root: Path) -> None:
    (root / "docs" / "note.txt").chmod(0)

    assert unprivileged(root, best_resolution(), "stat", "docs/note.txt") == "ok"


def test_stat_returns_the_status_of_a_file(jail: Jail, root: Path) -> None:
    os.link(root / "top.txt", root / "second.txt")
    (root / "link").symlink_to("docs")

    look = jail.stat("top.txt")

    assert (look.kind, look.size, look.names) == (Kind.FILE, len(INSIDE), 2)
    assert look == jail.stat("second.txt")
    assert look.modified_ns == (root / "top.txt").stat().st_mtime_ns
    assert jail.stat("link").kind is Kind.FOLDER
    assert jail.stat("link").identity == jail.stat("docs/").identity


def test_a_folder_is_listed_in_order_and_links_are_named_as_links(jail: Jail, root: Path) -> None:
    (root / "link").symlink_to("/etc")
    os.mkfifo(root / "fifo")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff")).touch()

    expected = Listing(
        entries=(
            ("docs", Kind.FOLDER),
            ("fifo", Kind.OTHER),
            ("link", Kind.LINK),
            ("top.txt", Kind.FILE),
        ),
        unnameable=1,
    )
    assert jail.list(".", limit=5) == expected
    assert jail.list("docs/deep/", limit=0) == Listing(entries=())


def test_a_folder_with_more_names_than_allowed_is_not_listed_in_part(jail: Jail) -> None:
    failure = refusal(lambda: jail.list(".", limit=1))

    assert (failure.code, failure.details) == ("CAP_EXCEEDED", {"limit": 1})


def test_a_root_that_is_a_link_stays_at_its_first_target(root: Path) -> None:
    named = root.parent / "named"
    named.symlink_to(root)

    with Jail(named) as jail:
        named.unlink()
        named.symlink_to(root.parent / "outside")

        assert jail.read("docs/note.txt", limit=99) == INSIDE


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("relative", RootProblem.NOT_ABSOLUTE),
        ("/none/such", RootProblem.ABSENT),
        ("/etc/passwd", RootProblem.NOT_A_FOLDER),
        ("/etc/passwd/x", RootProblem.NOT_A_FOLDER),
    ],
)
def test_an_unusable_root_is_refused_with_the_reason(name: str, problem: RootProblem, resolution: Resolution) -> None:
    with pytest.raises(RootRefused) as caught:
        Jail(name, resolution)

    assert caught.value.problem is problem
    assert str(caught.value).endswith("expected the absolute path of a folder")


def test_an_error_while_reading_is_a_failure_to_read(jail: Jail) -> None:
    def fail_midway() -> None:
        with jail.open("top.txt") as (handle, _look):
            os.write(handle, b"x")

    assert verdict(fail_midway) == ("FILE_READ_FAILED", "io")
