"""The gate: judged by where a URI lands, and blind to what exists outside the roots (A.5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.fault.failure import Refused
from strictwire.packs.code.gate import Gate
from strictwire.packs.code.uri import render_file_uri


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A root, a neighbour whose name begins with the root's, and links in every direction."""
    for folder in ("root/sub", "rootless", "outside"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("root/a.py", "root/sub/b c.py", "rootless/x.py", "outside/secret.py"):
        (tmp_path / file).write_text("x = 1\n")
    (tmp_path / "root/escape.py").symlink_to(tmp_path / "outside/secret.py")
    (tmp_path / "root/dangling.py").symlink_to(tmp_path / "outside/nothing.py")
    (tmp_path / "root/folder").symlink_to(tmp_path / "outside")
    (tmp_path / "root/alias.py").symlink_to("a.py")
    (tmp_path / "root/loop.py").symlink_to("loop.py")
    (tmp_path / "linked").symlink_to(tmp_path / "root")
    (tmp_path / "outside/inward").symlink_to(tmp_path / "root")
    return tmp_path


def code(gate: Gate, uri: str) -> str:
    try:
        gate.admit(uri)
    except Refused as exc:
        return exc.failure.code
    return "admitted"


def test_a_file_in_a_root_is_admitted_under_its_canonical_uri(world: Path) -> None:
    gate = Gate([world / "root"])
    admitted = gate.admit(f"file://{world}/root/sub/../sub/b%20c.py?x#y")

    assert (admitted.root, admitted.path) == (world / "root", world / "root/sub/b c.py")
    assert (admitted.uri, admitted.relative) == (render_file_uri(world / "root/sub/b c.py"), "sub/b c.py")
    assert gate.admit(f"file://{world}/root/alias.py").path == world / "root/a.py"
    assert gate.admit(f"file://{world}/root").path == world / "root"


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("root/a.py", "admitted"),
        ("root/missing.py", "URI_INVALID"),
        ("root/loop.py", "URI_INVALID"),
        ("root/a.py/x.py", "URI_INVALID"),
        ("root/%2561.py", "URI_INVALID"),
        ("root/escape.py", "WORKSPACE_DENIED"),
        ("root/dangling.py", "WORKSPACE_DENIED"),
        ("root/folder/secret.py", "WORKSPACE_DENIED"),
        ("root/folder/nothing.py", "WORKSPACE_DENIED"),
        ("root/../outside/secret.py", "WORKSPACE_DENIED"),
        ("root/%2e%2e/outside/secret.py", "WORKSPACE_DENIED"),
        ("root/..%2foutside%2fsecret.py", "WORKSPACE_DENIED"),
        ("outside/secret.py", "WORKSPACE_DENIED"),
        ("outside/nothing.py", "WORKSPACE_DENIED"),
        ("outside/nowhere/nothing.py", "WORKSPACE_DENIED"),
        ("outside/inward/a.py", "WORKSPACE_DENIED"),
        ("rootless/x.py", "WORKSPACE_DENIED"),
        ("rootless/missing.py", "WORKSPACE_DENIED"),
    ],
)
def test_a_uri_is_judged_by_where_it_lands(world: Path, place: str, expected: str) -> None:
    assert code(Gate([world / "root"]), f"file://{world}/{place}") == expected


@pytest.mark.parametrize(
    "detour", ["outside/inward/../root/a.py", "outside/nowhere/../../root/a.py", "nowhere/../root/a.py"]
)
def test_what_exists_on_a_detour_outside_makes_no_difference(world: Path, detour: str) -> None:
    """`..` is collapsed as text: whether `inward` is a link or `nowhere` exists is never looked up."""
    collapses_inside = not detour.startswith("outside/inward")

    assert code(Gate([world / "root"]), f"file://{world}/{detour}") == (
        "admitted" if collapses_inside else "WORKSPACE_DENIED"
    )


def test_malformed_uris_are_invalid_and_without_roots_nothing_is_even_parsed(world: Path) -> None:
    assert code(Gate([world / "root"]), "file:///%zz") == "URI_INVALID"
    assert code(Gate([]), "file:///%zz") == "WORKSPACE_DENIED"
    assert code(Gate([]), f"file://{world}/root/a.py") == "WORKSPACE_DENIED"


def test_a_root_that_is_a_link_is_known_by_both_names(world: Path) -> None:
    gate = Gate([world / "linked"])

    assert gate.roots == (world / "root",)
    assert gate.admit(f"file://{world}/linked/a.py").path == world / "root/a.py"
    assert gate.admit(f"file://{world}/root/a.py").path == world / "root/a.py"


def test_a_file_of_a_root_inside_a_root_belongs_to_the_inner_one(world: Path) -> None:
    gate = Gate([world / "root", world / "root/sub", world / "linked/sub"])

    assert gate.roots == (world / "root", world / "root/sub")
    assert gate.admit(f"file://{world}/root/sub/b%20c.py").root == world / "root/sub"


def test_a_root_that_disappeared_leaves_invalid_uris(world: Path) -> None:
    gate = Gate([world / "root"])
    (world / "root").rename(world / "elsewhere")

    assert code(gate, f"file://{world}/root/a.py") == "URI_INVALID"


def test_results_outside_are_none_and_results_inside_canonical(world: Path) -> None:
    inside = Gate([world / "root"]).filter()
    uris = [f"file://{world}/{place}" for place in ("root/alias.py", "root/gone.py", "outside/secret.py", "root/escape.py")]

    assert [inside(uri) for uri in [*uris, "git:/x", "nonsense"]] == [
        f"file://{world}/root/a.py",
        f"file://{world}/root/gone.py",
        None,
        None,
        None,
        None,
    ]


def test_the_key_of_the_roots_is_the_vector() -> None:
    assert Gate([Path("/w")]).key == "f897e7e46f49093619f65edbd3b809f955fc2d626760a0993668a68eeaf61d96"
    assert Gate([Path("/w"), Path("/w/")]).key == Gate([Path("/w")]).key
