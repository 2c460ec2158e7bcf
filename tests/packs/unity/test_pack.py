"""The Unity pack as a pack: settings, catalogue, freshness, and that it leaves the project alone."""

from __future__ import annotations

import asyncio
import hashlib
import re
import shutil
import time
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.live import wait_for
from tests.packs.unity.tools.desk import Context, contracts, opened
from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_model import Node, Scene
from tests.packs.unity.writer_random import random_project

from strictwire.canon.json import parse_object
from strictwire.contract.handler import Handler
from strictwire.contract.tool import ToolContract
from strictwire.fault.failure import Refused
from strictwire.packs.pack import EditorFacts, Environment, PackRefused
from strictwire.packs.unity.pack import GUARD, GUARDS, UnityPack
from strictwire.packs.unity.references.index import SETTLED_NS
from strictwire.packs.unity.tools.wildcard import matches
from strictwire.packs.unity.watching import ProjectWatch
from strictwire.pipeline.stages import TIERS
from strictwire.sources.shipped import SHIPPED_SCHEMAS

SCENE = "Assets/S.unity"


def project(tmp_path: Path, name: str = "A") -> Path:
    builder = ProjectBuilder()
    builder.add_scene(Scene(path=SCENE, roots=(Node(file_id=10, transform_id=11, name=name),)))
    return builder.save(tmp_path)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, "expected a setting `root`"),
        ({"root": ""}, "setting `root`: expected the path of a folder"),
        ({"root": 5}, "setting `root`: expected the path of a folder"),
        ({"root": "/nowhere"}, "no Unity project"),
        ({"root": "/nowhere", "speed": 1}, "unknown setting `speed`"),
    ],
)
def test_wrong_settings_are_refused_with_what_to_do(settings: dict[str, object], reason: str) -> None:
    with pytest.raises(PackRefused, match=reason):
        asyncio.run(UnityPack().open(Environment(settings=settings)))  # type: ignore[arg-type]


def test_the_contract_page_has_a_row_for_every_tool() -> None:
    page = (Path(__file__).parents[3] / "docs" / "CONTRACT.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z._]+)` \| (.*?) \| .* \| (\d+) s \|$", page, re.MULTILINE)
    expected = [
        (
            name,
            ", ".join(f"`{each}`" for each in contracts()[name].input_schema["properties"]) or "-",
            f"{GUARDS.get(name, GUARD):.0f}",
        )
        for name in UnityPack.tools
    ]

    assert rows == expected


def test_a_folder_that_is_no_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackRefused, match=r"no Unity project: .*ProjectSettings/ProjectVersion.txt"):
        asyncio.run(UnityPack().open(Environment(settings={"root": str(tmp_path)})))


def test_the_index_must_not_be_kept_inside_the_project(tmp_path: Path) -> None:
    with pytest.raises(PackRefused, match="must not be kept inside the project"):
        asyncio.run(UnityPack().open(Environment(settings={"root": str(project(tmp_path))}, state=tmp_path / "Library")))


def digest(root: Path) -> dict[str, tuple[str, int, int]]:
    return {
        str(path.relative_to(root)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            path.stat().st_mtime_ns,
            path.stat().st_mode,
        )
        for path in sorted(root.rglob("*"))
    }


def settle(root: Path) -> None:
    """Return when the files are old enough to be kept in the index: a young one may change within its time stamp."""
    newest = max(path.stat().st_ctime_ns for path in root.rglob("*"))
    wait_for(lambda: time.time_ns() - newest > 2 * SETTLED_NS)


def test_the_project_is_never_written_to(tmp_path: Path) -> None:
    root = random_project(3).save(tmp_path / "project")
    before = digest(root)
    settle(root)
    with opened(root, state=tmp_path / "state") as desk:
        desk.call("project.assets.summary")
        desk.call("project.references.missing")
        desk.call("scene.hierarchy.dump", scenePath="Assets/Scenes/S0.unity")
        desk.call("asset.dependencies.graph", assetPath="Assets/Scenes/S0.unity")

    assert digest(root) == before
    assert list((tmp_path / "state" / "unity").glob("*.index"))


def test_a_read_only_project_is_served(tmp_path: Path) -> None:
    root = project(tmp_path)
    for path in sorted(root.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    with opened(root) as desk:
        names = [each["name"] for each in desk.output("scene.hierarchy.dump", scenePath=SCENE)["rootObjects"]]
    for path in root.rglob("*"):
        path.chmod(0o755)

    assert names == ["A"]


def test_a_change_is_noticed_by_the_next_call(tmp_path: Path) -> None:
    root = project(tmp_path)
    with opened(root) as desk:

        def names() -> list[str]:
            return [each["name"] for each in desk.output("scene.hierarchy.dump", scenePath=SCENE)["rootObjects"]]

        assert names() == names() == ["A"]
        (root / SCENE).write_bytes((root / SCENE).read_bytes().replace(b"m_Name: A", b"m_Name: B"))
        assert names() == ["B"]
        folder = root / "Assets/New/Deeper"
        folder.mkdir(parents=True)
        shutil.copy(root / SCENE, folder / "T.unity")
        listed = desk.output("project.scenes.list")["scenes"]
        assert [each["path"] for each in listed] == ["Assets/New/Deeper/T.unity", SCENE]
        (folder / "T.unity").write_bytes((root / SCENE).read_bytes().replace(b"m_Name: B", b"m_Name: C"))
        assert desk.output("scene.hierarchy.dump", scenePath="Assets/New/Deeper/T.unity")["rootObjects"][0]["name"] == "C"
        (root / SCENE).unlink()
        assert desk.refuse("scene.hierarchy.dump", scenePath=SCENE).text == "Scene file not found"


def test_the_editor_version_is_that_of_the_project_as_it_is_now(tmp_path: Path) -> None:
    root = project(tmp_path)
    told: list[object] = []
    pack = UnityPack()
    asyncio.run(pack.open(Environment(settings={"root": str(root)}, describe_editor=told.append)))
    (describe,) = told
    assert describe() == EditorFacts(unity_version="2022.3.10f1", platform="LinuxEditor")  # type: ignore[operator]
    (root / "ProjectSettings/ProjectVersion.txt").write_text("m_EditorVersion: 6000.0.1f1\n")

    assert describe().unity_version == "6000.0.1f1"  # type: ignore[operator]
    asyncio.run(pack.close())


def offered(tmp_path: Path) -> tuple[dict[str, ToolContract], dict[str, Handler]]:
    found: dict[str, tuple[ToolContract, Handler]] = {}

    def offer(contract: ToolContract, handler: Handler) -> None:
        found[contract.name] = (contract, handler)

    pack = UnityPack()
    asyncio.run(pack.open(Environment(settings={"root": str(project(tmp_path))}, offer=offer)))
    asyncio.run(pack.close())
    return {name: each[0] for name, each in found.items()}, {name: each[1] for name, each in found.items()}


def test_higher_tiers_are_named_and_need_the_editor(tmp_path: Path) -> None:
    higher, handlers = offered(tmp_path)
    tiers = {tier: sum(1 for each in higher.values() if each.tier == tier) for tier in ("pro", "studio", "enterprise")}
    with pytest.raises(Refused) as caught:
        handlers["go.create"]({}, Context())  # type: ignore[arg-type]

    assert tiers == {"pro": 29, "studio": 25, "enterprise": 15}
    assert {each.tier for each in higher.values()} <= set(TIERS)
    assert not any(each.listed for each in higher.values())
    assert not set(higher) & set(UnityPack.tools)
    assert caught.value.failure.code == "UNITY_ERROR"


def test_lists_and_descriptions_come_from_the_schema_files(tmp_path: Path) -> None:
    with opened(project(tmp_path)) as desk:
        core = desk.output("mcp.tools.list", tier="core")["tools"]
        everything = desk.output("mcp.tools.list")["tools"]
        nothing = desk.output("mcp.tools.list", category="mcp")["tools"]
        described = {name: desk.output("mcp.tool.describe", toolId=name) for name in UnityPack.tools}
        unknown = desk.refuse("mcp.tool.describe", toolId="no.such.tool")
        info = desk.output("mcp.server.info")

    assert [each["id"] for each in core] == sorted(UnityPack.tools)
    assert {each["safetyLevel"] for each in core} == {"read-only"}
    assert len(everything) == len(UnityPack.tools) + 69
    assert nothing == []
    for name, told in described.items():
        assert told["inputs"] == parse_object((SHIPPED_SCHEMAS / "tools" / f"{name}.json").read_bytes())
        assert told["outputs"] == parse_object((SHIPPED_SCHEMAS / "tools" / f"{name}.output.json").read_bytes())
        assert told["name"] == contracts()[name].title
    assert (unknown.code, unknown.details) == ("NOT_FOUND", {"toolId": "no.such.tool"})
    assert info == {
        "serverVersion": "0.1.0",
        "unityVersion": "2022.3.10f1",
        "platform": "LinuxEditor",
        "enabledToolCategories": ["asset", "audio", "editor", "mcp.platform", "project", "scene"],
        "tier": "core",
    }


def test_the_selection_needs_an_editor(tmp_path: Path) -> None:
    with opened(project(tmp_path)) as desk:
        failure = desk.refuse("editor.selection.info")

    assert (failure.code, failure.text) == ("UNITY_ERROR", "No Editor is running")
    assert set(failure.details) == {"unityError"}


@given(st.text(alphabet="ab*?[", max_size=8), st.text(alphabet="ab[", max_size=12))
def test_wildcards_match_like_those_of_a_shell(pattern: str, text: str) -> None:
    escaped = pattern.replace("[", "[[]")

    assert matches(pattern, text) == fnmatchcase(text, escaped)


def test_wildcards_take_no_exponential_time() -> None:
    assert not matches("*a" * 120 + "b", "a" * 5_000)


def test_wildcards_are_fast_on_names_of_two_million_characters() -> None:
    assert not matches("*" + "a" * 100 + "b", "a" * 2_000_000)


def test_a_watch_sees_changes_below_new_folders(tmp_path: Path) -> None:
    root = project(tmp_path)
    watch = ProjectWatch(root)
    assert watch.has_changed()
    assert not watch.has_changed()
    (root / "Assets/One/Two").mkdir(parents=True)
    assert watch.has_changed()
    (root / "Assets/One/Two/file.txt").write_text("x")
    assert watch.has_changed()
    (root / "Library").mkdir(exist_ok=True)
    (root / "Assets/One").rename(root / "Assets/Other")
    assert watch.has_changed()
    (root / "Assets/Other/Two/file.txt").write_text("y")

    assert watch.has_changed()
    assert not watch.has_changed()
    watch.close()
