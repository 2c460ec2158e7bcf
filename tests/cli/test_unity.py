"""`strictwire unity` from the command line: exit codes, formats, settings, baseline, and errors that say what to do."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests.packs.unity.repository import commit
from tests.packs.unity.writer import ProjectBuilder, save_files
from tests.packs.unity.writer_faults import FAULTS, Plant
from tests.packs.unity.writer_model import Node, Scene
from tests.packs.unity.writer_random import random_project

from strictwire.canon.json import parse_object
from strictwire.cli.main import main


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder and a state folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        code = main(["unity", *arguments])
    except SystemExit as ended:
        code = int(ended.code or 0)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def plant(root: Path, *names: str) -> Plant:
    made = Plant(random_project(3, size=2))
    for name in names:
        FAULTS[name](made)
    save_files(root, made.finish())
    return made


def test_a_clean_project_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path / "Game")
    code, out, err = run(capsys, "check", "Game")

    assert (code, err) == (0, "")
    assert out.startswith("unity check: 0 findings in ")


@pytest.mark.parametrize("style", ["text", "json", "sarif", "junit", "github", "markdown"])
def test_findings_end_with_100_in_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str], style: str) -> None:
    made = plant(tmp_path / "Game", "deleted_script", "lfs_pointer")
    code, out, err = run(capsys, "check", "Game", "--format", style)

    assert (code, err) == (100, "")
    for rule, file in made.expected:
        # JUnit has failures alone, and a warning is none.
        if style != "junit" or rule == "SCRIPT_EXISTS":
            assert rule in out
            assert file in out
    if style in ("json", "sarif"):
        parse_object(out.encode())
    if style == "junit":
        assert ET.fromstring(out).find("testsuite").get("failures") == "2"


def test_warnings_fail_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path / "Game", "lfs_pointer")

    assert run(capsys, "check", "Game")[0] == 0
    assert run(capsys, "check", "Game", "--fail-on", "warning")[0] == 100


def test_settings_choose_severities_and_waive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path / "Game", "lfs_pointer", "placeholder_guid", "orphaned_meta")
    (tmp_path / "strictwire.toml").write_text(
        '[unity.check]\nfail_on = "warning"\n[unity.check.severity]\nLFS_FETCHED = "off"\nGUID_GENERATED = "note"\n'
        '[[unity.check.waivers]]\nrule = "META_HAS_ASSET"\npath = "Assets/Planted/*"\nreason = "cleaned up next week"\n'
    )
    code, out, _ = run(capsys, "check", "Game", "--format", "json")
    report = parse_object(out.encode())

    assert code == 0
    assert [(each["rule"], each["severity"]) for each in report["findings"]] == [("GUID_GENERATED", "note")]
    assert [each["reason"] for each in report["waived"]] == ["cleaned up next week"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[unity.check]\nfail_on = "x"\n', "unknown severity 'x'"),
        ("[unity]\ncheck = 3\n", "[unity.check] is a table"),
        ("[unitty]\n", "unitty"),
        ("[unity.chek]\n", "unknown key 'chek' in [unity]"),
    ],
)
def test_settings_that_cannot_be_used_are_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    plant(tmp_path / "Game")
    (tmp_path / "strictwire.toml").write_text(text)
    code, out, err = run(capsys, "check", "Game")

    assert (code, out) == (2, "")
    assert message in err


def test_a_baseline_hides_old_findings_and_not_new_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path / "Game", "deleted_script")
    written = run(capsys, "check", "Game", "--baseline", "old.json", "--write-baseline")
    known = run(capsys, "check", "Game", "--baseline", "old.json")
    plant(tmp_path / "Game", "deleted_script", "missing_asset")
    new = run(capsys, "check", "Game", "--baseline", "old.json", "--format", "json")
    plant(tmp_path / "Fixed")
    fixed = run(capsys, "check", "Fixed", "--baseline", "old.json")

    assert written == (0, "2 findings written to old.json\n", "")
    assert known[0] == 0
    assert "2 in the baseline" in known[1]
    assert new[0] == 100
    assert [each["rule"] for each in parse_object(new[1].encode())["findings"]] == ["REFERENCE_RESOLVES"]
    assert "2 findings of the baseline no longer occur" in fixed[1]


def test_mistakes_about_the_baseline_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path / "Game")
    (tmp_path / "bad.json").write_text("{")

    assert run(capsys, "check", "Game", "--write-baseline")[0] == 2
    assert "cannot be read; make it with --write-baseline" in run(capsys, "check", "Game", "--baseline", "none.json")[2]
    assert run(capsys, "check", "Game", "--baseline", "bad.json")[0] == 2
    assert run(capsys, "check", "Game", "--baseline", "no/such/folder.json", "--write-baseline")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("check", "nowhere"), 1, "nowhere does not exist"),
        (("check", "empty"), 1, "no Unity project"),
        (("unused", "empty"), 1, "no Unity project"),
        (("usages", "Assets/x.mat", "--project", "empty"), 1, "no Unity project"),
        (("tree", "Assets/x.unity", "--project", "empty"), 1, "no Unity project"),
        (("diff", "a", "b", "empty"), 1, "not a git repository"),
        (("check", "Game", "--format", "xml"), 2, "invalid choice"),
        (("tree", "Game/Assets/Scenes/S1.unity", "--depth", "0"), 2, "expected a whole number"),
        (("tree", "Game/Assets/Scenes/S1.unity", "--depth", "99999"), 2, "expected at most"),
        (("usages", "Assets/None.mat", "--project", "Game"), 1, "is no asset of Game"),
        (("usages", "f" * 32, "--project", "Game"), 1, "no asset of Game has the GUID"),
        (("usages", "../../etc/passwd", "--project", "Game"), 1, "is no asset of Game"),
        (("tree", "Assets/Materials/M0.mat", "--project", "Game"), 1, "is not a scene"),
        (("tree", "Assets/None.unity", "--project", "Game"), 1, "does not exist in Game"),
        (("tree", "../../etc/passwd.unity", "--project", "Game"), 1, "does not exist in Game"),
        ((), 2, "required"),
    ],
)
def test_an_error_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, message: str
) -> None:
    (tmp_path / "empty").mkdir()
    plant(tmp_path / "Game")
    found = run(capsys, *arguments)

    assert (found[0], found[1]) == (code, "")
    assert message in found[2]
    assert "Traceback" not in found[2]


def test_several_projects_are_checked_apart_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".git").mkdir()
    for name in ("a", "b"):
        plant(tmp_path / "games" / name, "orphaned_meta")
    code, out, _ = run(capsys, "check", "--format", "json")

    assert code == 100
    assert [each["file"].split("/")[:3] for each in parse_object(out.encode())["findings"]] == [
        ["games", "a", "Assets"],
        ["games", "b", "Assets"],
    ]


def test_a_check_may_be_limited_to_a_part_of_a_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path / "Game", "deleted_script")

    assert run(capsys, "check", "Game/Assets/Planted")[0] == 100
    assert run(capsys, "check", "Game/Assets/Scenes")[0] == 0


def test_usages_are_listed_by_path_and_guid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = plant(tmp_path / "Game").builder
    material = "Assets/Materials/M0.mat"
    shown = [
        run(capsys, "usages", *arguments)
        for arguments in (
            (material, "--project", "Game"),
            (f"Game/{material}",),
            (made.guids[material], "--project", "Game"),
            (f"Game/{material}", "--no-index"),
        )
    ]
    cut = parse_object(run(capsys, "usages", f"Game/{material}", "--limit", "1", "--format", "json")[1].encode())

    assert len(set(shown)) == 1
    assert shown[0][0] == 0
    assert shown[0][1].endswith(f"{material}: {cut['omitted'] + 1} usages\n")
    assert len(cut["usages"]) == 1


def test_a_tree_is_shown_with_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = ProjectBuilder()
    inner = Node(file_id=13, transform_id=14, name="B\x1b[31m", active=False)
    builder.add_scene(Scene(path="Assets/A.unity", roots=(Node(file_id=11, transform_id=12, name="A", children=(inner,)),)))
    builder.save(tmp_path / "Game")
    whole = run(capsys, "tree", "Game/Assets/A.unity", "--components")
    cut = run(capsys, "tree", "Game/Assets/A.unity", "--depth", "1")
    value = parse_object(run(capsys, "tree", "Game/Assets/A.unity", "--format", "json")[1].encode())

    assert whole == (
        0,
        "A  [Transform]\n  B\\u001b[31m (inactive)  [Transform]\nAssets/A.unity: 2 objects\n",
        "",
    )
    assert cut[1] == "A\n... 1 more object; raise --depth or --limit to see them\nAssets/A.unity: 2 objects\n"
    assert value["roots"] == [
        {
            "name": "A",
            "active": True,
            "fileId": "11",
            "children": [{"name": "B\x1b[31m", "active": False, "fileId": "13"}],
        }
    ]


def test_unused_assets_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = ProjectBuilder()
    builder.add_texture("Assets/A.png", 2000)
    builder.add_material("Assets/B.mat")
    builder.add_scene(Scene(path="Assets/A.unity"))
    builder.save(tmp_path / "Game")
    code, out, _ = run(capsys, "unused", "Game", "--type", "Texture")
    value = parse_object(run(capsys, "unused", "Game", "--format", "json", "--limit", "1")[1].encode())

    assert (code, out) == (0, "       2,000  Assets/A.png\n1 unused asset, 2,000 bytes: 1 Texture\n")
    assert value["projects"][0]["unused"] == [{"path": "Assets/A.png", "type": "Texture", "bytes": 2000}]
    assert (value["projects"][0]["assets"], value["projects"][0]["omitted"]) == (2, 1)


def test_an_unknown_asset_type_is_no_empty_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ProjectBuilder().save(tmp_path / "Game")
    code, out, error = run(capsys, "unused", "Game", "--type", "Textures")

    assert (code, out) == (2, "")
    assert error.startswith("strictwire unity unused: there is no asset type 'Textures'; types: Animation, Audio, ")


def test_a_diff_ends_with_0_or_on_request_with_100(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = random_project(2).finish()
    scene = "Assets/Scenes/S1.unity"
    commit(tmp_path / "repo", before, "before")
    commit(tmp_path / "repo", {**before, scene: before[scene].replace(b"m_Fog: 0", b"m_Fog: 1")}, "after")

    listed = f"{scene} (modified)\n  (settings)\n      ~ RenderSettings.m_Fog: 0 → 1\n\n"
    assert run(capsys, "diff", "before", "after", "repo") == (
        0,
        listed + "before → after: 1 file: 1 field changed\n",
        "",
    )
    assert run(capsys, "diff", "before", "after", "repo", "--exit-code")[0] == 100
    assert run(capsys, "diff", "after", "after", "repo", "--exit-code") == (0, "after → after: 0 files\n", "")
    assert run(capsys, "diff", "before", "after", f"repo/{scene}", "--format", "markdown")[1].startswith("## Unity changes")
    assert (
        "<title>Unity changes: before → after</title>"
        in run(capsys, "diff", "before", "after", "repo", "--format", "html")[1]
    )


def test_a_diff_that_is_not_complete_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = random_project(2).finish()
    commit(tmp_path / "repo", before, "before")
    commit(tmp_path / "repo", {**before, "Assets/Scenes/S1.unity": b"\x00"}, "after")
    code, out, err = run(capsys, "diff", "before", "after", "repo")

    assert code == 1
    assert "Not fully compared: at after the file is saved in binary form" in out
    assert "not everything could be compared" in err


def test_a_repository_without_a_project_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(tmp_path / "repo", {"a.unity": b"x"}, "before")

    assert run(capsys, "diff", "before", "before", "repo")[0] == 1
    assert run(capsys, "diff", "before", ".", "repo")[0] == 1


def test_nothing_is_written_but_the_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path / "Game", "deleted_script")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "Game").rglob("*")}
    for arguments in (("check", "Game"), ("unused", "Game"), ("usages", "Game/Assets/Materials/M0.mat")):
        run(capsys, *arguments)

    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "Game").rglob("*")} == before
    assert {path.name for path in tmp_path.iterdir()} <= {"Game", "state"}
