"""Paths as agents send them: absolute, with `./`, as `file:` URIs; in every tool that takes a path."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from tests.packs.workspace.harness import PLANNER, open_harness, plan_arguments, run, sha256
from tests.packs.workspace.project import open_project

from strictwire.packs.workspace.path_arguments import relative_to, with_relative_paths

ROOT = "/w/my root"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/a.py", "src/a.py"),
        (".//./src", "src"),
        (".", "."),
        ("./", "./"),
        (".hidden", ".hidden"),
        (f"{ROOT}/src/a.py", "src/a.py"),
        (f"{ROOT}//src/./a.py", "src/a.py"),
        (f"{ROOT}/src/", "src/"),
        (ROOT, "."),
        (f"{ROOT}/", "."),
        (f"{ROOT}-2/a", f"{ROOT}-2/a"),
        ("/etc/passwd", "/etc/passwd"),
        (f"{ROOT}/../x", f"{ROOT}/../x"),
        (f"{ROOT}/a\0b", f"{ROOT}/a\0b"),
        (f"file://{quote(ROOT)}/src/a%20b.py", "src/a b.py"),
        (f"file://localhost{quote(ROOT)}/a", "a"),
        (f"FILE:{quote(ROOT)}/a", "a"),
        ("file:///etc/passwd", "/etc/passwd"),
        ("file://host/w/a", "file://host/w/a"),
        ("file:///%ff", "file:///%ff"),
        ("file://[/a", "file://[/a"),
        ("file:name", "file:name"),
    ],
)
def test_a_path_that_leads_inside_becomes_relative_and_any_other_stays(sent: str, expected: str) -> None:
    assert relative_to(ROOT, sent) == expected


def test_every_argument_that_holds_a_path_is_rewritten_and_no_other() -> None:
    inside = f"{ROOT}/src"
    given = {
        "path": inside,
        "content": inside,
        "changes": [{"operation": "move", "path": inside, "new_path": f"{inside}/b", "content": inside}],
        "paths": [f"{inside}/**", "docs/**"],
        "phases": [{"required_intent_artifacts": [inside], "objective": inside}],
        "forbidden_actions": [{"operation": "delete", "pattern": f"{inside}/*"}],
    }

    assert with_relative_paths(ROOT, given) == {
        "path": "src",
        "content": inside,
        "changes": [{"operation": "move", "path": "src", "new_path": "src/b", "content": inside}],
        "paths": ["src/**", "docs/**"],
        "phases": [{"required_intent_artifacts": ["src"], "objective": inside}],
        "forbidden_actions": [{"operation": "delete", "pattern": "src/*"}],
    }


def test_an_alias_of_the_root_leads_inside_but_the_last_name_is_never_resolved(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "link").symlink_to("/etc/passwd")
    (tmp_path / "alias").symlink_to(root)
    (tmp_path / "inner").symlink_to(root / "src")

    assert relative_to(str(root), f"{tmp_path}/alias") == "."
    assert relative_to(str(root), f"{tmp_path}/alias/src/a") == "src/a"
    assert relative_to(str(root), f"{tmp_path}/inner/a") == "src/a"
    assert relative_to(str(root), f"{tmp_path}/alias/link") == "link"


@pytest.mark.clause("S12")
def test_every_spelling_of_a_path_reads_and_changes_the_same_file(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            root = project.root
            made = await project.build("write_file", path=str(root / "src/a.py"), content="one = 1\n")
            assert made["path"] == "src/a.py"
            for spelling in ("src/a.py", "./src/a.py", str(root / "src/a.py"), (root / "src/a.py").as_uri()):
                read = await project.ask("read_file", path=spelling)
                assert (read["path"], read["sha256"]) == ("src/a.py", made["sha256"])
            listed = await project.ask("list_files", path=str(root), recursive=True, glob=f"{root}/src/*.py")
            assert [each["path"] for each in listed["items"]] == ["src/a.py"]
            changes = [{"operation": "move", "path": (root / "src/a.py").as_uri(), "new_path": f"{root}/src/b.py"}]
            await project.build("apply_changes", changes=[changes[0] | {"previousHash": sha256(b"one = 1\n")}])
            assert (root / "src/b.py").read_text() == "one = 1\n"

    run(use())


def test_a_plan_may_name_its_paths_absolutely(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            arguments = plan_arguments(paths=[f"{harness.root}/src/**", "./docs/*.md"])
            made = await harness.call(PLANNER, "create_plan", session_id=planner, **arguments)
            assert "- src/**\n- docs/*.md\n" in made["content"]

    run(use())
