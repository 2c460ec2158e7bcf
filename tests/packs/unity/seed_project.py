"""The project behind the example requests of EditorMCP's envelope document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_model import Component, Node, Scene

GOLDEN = Path(__file__).parent / "golden"


def golden(name: str) -> dict[str, Any]:
    """A request and its answer, as the document shows them."""
    return json.loads((GOLDEN / f"{name}.json").read_text())


def seed_project(files: int = 0) -> ProjectBuilder:
    """`Main.unity` with a camera, `Test.unity` with a player whose script is gone, and more files without faults."""
    builder = ProjectBuilder(seed=4, name="Seed")
    camera = Component(file_id=12347, type="Camera")
    main = Node(file_id=12345, transform_id=12346, name="Main Camera", components=(camera,))
    builder.add_scene(Scene(path="Assets/Scenes/Main.unity", roots=(main,)))
    gone = Component(file_id=22347, type="MonoBehaviour")
    player = Node(file_id=22345, transform_id=22346, name="Player", components=(gone,))
    builder.add_scene(Scene(path="Assets/Scenes/Test.unity", roots=(player,)))
    for number in range(files):
        builder.add_file(f"Assets/Z{number:03}.txt", "text\n")
    return builder
