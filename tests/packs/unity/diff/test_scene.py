"""`unity diff` reports exactly the planted changes."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_changes import EDITS, Edit, Expected
from tests.packs.unity.writer_random import Maker, random_project
from tests.packs.unity.writer_sizes import scene_pair

from strictwire.packs.unity.diff.model import Change
from strictwire.packs.unity.diff.scene import SceneDiff
from strictwire.packs.unity.diff.side import Side, shorten_pair
from strictwire.packs.unity.sources import Sources

pytestmark = pytest.mark.slow

SCENE = "Assets/Scenes/S1.unity"


def side_of(files: Mapping[str, bytes], guids: Mapping[str, str], path: str) -> Side:
    by_guid = {guid: name for name, guid in guids.items()}
    sources = Sources(by_guid.get, lambda name: files[name])
    return Side(files[path], sources, by_guid.get)


def changes_between(before: ProjectBuilder, after: ProjectBuilder, path: str = SCENE) -> list[Change]:
    return list(SceneDiff(side_of(before.files, before.guids, path), side_of(after.files, after.guids, path)).changes())


def without_ids(changes: list[Change]) -> Counter[Expected]:
    return Counter(
        Expected(each.action.value, each.part.value, each.object, each.component, each.property, each.before, each.after)
        for each in changes
    )


def make_edit(seed: int) -> Edit:
    builder = random_project(seed, odd=0.2)
    scripts = tuple(path for path in builder.guids if path.endswith(".cs"))
    materials = tuple(path for path in builder.files if path.endswith(".mat"))
    maker = Maker(builder=builder, scripts=scripts, materials=materials, odd=0.2)
    scene = builder.scenes[SCENE]
    return Edit(builder=builder, maker=maker, before=scene, after=scene)


def apply(edit: Edit) -> ProjectBuilder:
    after = copy.deepcopy(edit.builder)
    after.add_scene(edit.after, in_build=False)
    return after


@pytest.mark.parametrize("seed", range(5))
def test_equal_scenes_have_no_changes(seed: int) -> None:
    builder = random_project(seed)

    assert changes_between(builder, builder) == []


def test_line_ends_and_wrapping_are_no_change() -> None:
    before = random_project(3)
    after = copy.deepcopy(before)
    after.files[SCENE] = after.files[SCENE].replace(b",\n        type: 3}", b", type: 3}").replace(b"\n", b"\r\n")

    assert changes_between(before, after) == []


def test_long_values_are_cut_where_they_differ() -> None:
    before, after = "x" * 2_000_000 + "old", "x" * 2_000_000 + "new"

    assert shorten_pair(before, after) == ("…" + "x" * 50 + "old", "…" + "x" * 50 + "new")
    assert shorten_pair("a", None) == ("a", None)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", EDITS)
def test_one_edit_is_reported_as_it_was_made(name: str, seed: int) -> None:
    edit = make_edit(seed)
    EDITS[name](edit)
    after = apply(edit)

    assert without_ids(changes_between(edit.builder, after)) == edit.expected(after)


def test_every_edit_finds_something_to_change() -> None:
    for name, make in EDITS.items():
        edits = [make_edit(seed) for seed in range(6)]
        for edit in edits:
            make(edit)

        assert any(edit.pending for edit in edits), name


@given(seed=st.integers(0, 2**32), names=st.lists(st.sampled_from(sorted(EDITS)), min_size=2, max_size=6))
@settings(max_examples=40)
def test_any_mix_of_edits_is_reported_exactly(seed: int, names: list[str]) -> None:
    edit = make_edit(seed)
    for name in names:
        EDITS[name](edit)
    after = apply(edit)

    assert without_ids(changes_between(edit.builder, after)) == edit.expected(after)


def test_the_changes_of_a_large_scene_are_those_that_were_made() -> None:
    pair = scene_pair(objects=2_000, changes=5)
    nothing = Sources(lambda _guid: None, lambda _path: b"")
    found = SceneDiff(
        Side(pair.before, nothing, lambda _guid: None), Side(pair.after, nothing, lambda _guid: None)
    ).changes()
    by_kind: dict[tuple[str, str, str], set[int]] = {}
    for each in found:
        by_kind.setdefault((each.action.value, each.part.value, each.property), set()).add(each.file_id)

    assert by_kind[("added", "object", "")] == set(pair.added)
    assert by_kind[("removed", "object", "")] == set(pair.removed)
    assert by_kind[("changed", "field", "m_Name")] == set(pair.renamed)
    for axis in "xyz":
        assert by_kind[("changed", "field", f"m_LocalPosition.{axis}")] == set(pair.repositioned)
    assert len(by_kind) == 6
