"""The generated projects are what they claim to be: without faults, deterministic, and of the sizes the benchmarks name."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from tests.packs.unity.writer import BUILTIN, ProjectBuilder
from tests.packs.unity.writer_random import ODD_NAMES, random_project
from tests.packs.unity.writer_sizes import realistic_scene, scene_pair
from tests.packs.unity.writer_yaml import Document, Ref, iter_refs, render_document

SEEDS = range(20)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_project_has_unique_ids_and_no_dangling_reference(seed: int) -> None:
    builder = random_project(seed)
    files = builder.finish()
    metas = Counter(
        re.search(rb"^guid: (\w+)$", raw, re.MULTILINE)[1].decode() for path, raw in files.items() if path.endswith(".meta")
    )

    assert set(metas.values()) == {1}
    for path, documents in builder.documents.items():
        ids = Counter(each.file_id for each in documents)
        refs = [ref for each in documents for ref in iter_refs(each.body)]

        assert max(ids.values()) == 1, path
        assert {ref.file_id for ref in refs if not ref.guid} <= {0, *ids}, path
        assert {ref.guid for ref in refs if ref.guid} <= {*metas, *BUILTIN}, path


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert random_project(7).finish() == random_project(7).finish()


def test_a_long_reference_is_wrapped_after_column_80() -> None:
    target = Ref(5265657162146905210, "9ecc4a3e5d4ee2f4a9e5e8a5c2d3f5b6", 3)
    text = render_document(Document(class_id=1001, file_id=1, type_name="P", body={"m": {"list": [{"target": target}]}}))

    assert text == (
        "--- !u!1001 &1\nP:\n  m:\n    list:\n"
        "    - target: {fileID: 5265657162146905210, guid: 9ecc4a3e5d4ee2f4a9e5e8a5c2d3f5b6,\n        type: 3}\n"
    )


def test_odd_names_stay_on_lines_of_their_own_document() -> None:
    """A name must never start a line with `---`, whatever it contains."""
    builder = ProjectBuilder()
    for name in ODD_NAMES:
        text = render_document(Document(class_id=1, file_id=builder.ids(), type_name="GameObject", body={"m_Name": name}))

        assert text.count("\n---") == 0
        assert "\r" not in text
        assert all(char == "\n" or (char.isascii() and char.isprintable()) for char in text), name


def test_benchmark_sizes_are_as_named() -> None:
    builder, path = realistic_scene()
    pair = scene_pair()

    assert 4_000_000 <= len(builder.files[path]) <= 4_600_000
    assert 9_000_000 <= len(pair.before) <= 11_000_000
    assert pair.before.count(b"\n--- ") == 50_000
