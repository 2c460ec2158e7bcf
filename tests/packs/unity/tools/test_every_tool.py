"""Every tool on everything in generated projects: each answer fits its schema, and the tools agree with each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.unity.tools.desk import Desk, opened
from tests.packs.unity.writer_random import random_project


def flatten(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [found for entry in entries for found in (entry, *flatten(entry["children"]))]


def check_scene(desk: Desk, path: str) -> None:
    dumped = flatten(desk.output("scene.hierarchy.dump", scenePath=path, includeFileIds=True)["rootObjects"])
    found = desk.output("scene.objects.find", scenePath=path, includeFileIds=True)["matches"]
    by_id = {each["instanceId"]: (each["path"], each["components"], each["fileId"]) for each in dumped}

    assert {each["instanceId"]: (each["path"], each["components"], each["fileId"]) for each in found} == by_id
    for each in dumped:
        listed = desk.output(
            "scene.components.list", scenePath=path, gameObjectPath=each["path"], instanceId=each["instanceId"]
        )
        assert [part["type"] for part in listed["components"]] == each["components"], each["path"]


@pytest.mark.parametrize("seed", range(3))
def test_the_tools_agree_about_every_scene_and_asset(seed: int, tmp_path: Path) -> None:
    builder = random_project(seed + 50, odd=0.3)
    with opened(builder.save(tmp_path)) as desk:
        for path in (*builder.scenes, *builder.prefabs):
            check_scene(desk, path)
        total = desk.output("project.assets.summary")["totalAssets"]
        paths = [path for path in builder.finish() if path.startswith(("Assets/", "Packages/com.example.tools/"))]
        assets = [path for path in paths if not path.endswith(".meta")]
        for path in assets:
            info = desk.output("asset.info", assetPath=path, includeDependencies=True)
            graph = desk.output("asset.dependencies.graph", assetPath=path, depth=1, direction="dependencies")
            used = {each["path"] for each in graph["dependencies"]}
            assert used == set(info["dependencies"]), path
            for each in used & set(assets):
                users = desk.output("asset.dependencies.graph", assetPath=each, depth=1, direction="dependents")
                assert path in {user["path"] for user in users["dependents"]}

        assert total == len(assets)
        for mixer in desk.output("audio.mixer.list")["mixers"]:
            for snapshot in mixer["snapshots"]:
                desk.output("audio.mixer.snapshot.read", mixerPath=mixer["path"], snapshotName=snapshot["name"])
