"""The Unity YAML reader beside unityparser and npm unity-yaml-parser, and an unchanged second call of a tool."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.packs.unity.writer_sizes import realistic_scene

from benchmarks import unity_peers
from benchmarks.unity_figures import Figure, at_least, at_most, cpu_seconds
from strictwire.packs.pack import Environment
from strictwire.packs.unity.pack import UnityPack
from strictwire.packs.unity.yaml.document import read_documents
from strictwire.packs.unity.yaml.index import index_documents
from strictwire.packs.unity.yaml.structure import read_structure

ROUNDS: Final = 15
CALLS: Final = 50
FULL, STRUCTURE, NODE, SECOND = 50.0, 200.0, 7.0, 0.02
"""What the reader has to reach."""


class _Quiet:
    """A call context that hears nothing."""

    facts: Final = {"tier": "core"}

    def diagnose(self, note: str) -> None:
        """Ignore."""


def measure() -> Iterator[Figure]:
    """Every figure of the reader, for a generated scene of 4 MB."""
    with tempfile.TemporaryDirectory() as folder:
        builder, path = realistic_scene()
        root = builder.save(Path(folder) / "project")
        raw = (root / path).read_bytes()
        documents = len(index_documents(raw))
        yield Figure(text="scene", found=f"{len(raw) / 1e6:.2f} MB, {documents} documents, {raw.count(10)} lines")
        yield from _measure_reader(root / path, raw, documents)
        yield from _measure_calls(root, path)
        yield from _measure_wire(root, path)


def _measure_reader(scene: Path, raw: bytes, documents: int) -> Iterator[Figure]:
    index = cpu_seconds(lambda: index_documents(raw), ROUNDS)
    structure = cpu_seconds(lambda: read_structure(raw), ROUNDS)
    full = cpu_seconds(lambda: list(read_documents(raw)), ROUNDS)
    theirs, node = unity_peers.run_unityparser(scene), unity_peers.run_node_parser(scene)
    assert theirs["documents"] == documents
    yield Figure(text="header index", found=f"{index * 1e3:.1f} ms CPU, {len(raw) / 1e6 / index:.0f} MB/s")
    yield Figure(text="structure only", found=f"{structure * 1e3:.1f} ms CPU, {len(raw) / 1e6 / structure:.0f} MB/s")
    yield Figure(text="full read", found=f"{full * 1e3:.1f} ms CPU, {len(raw) / 1e6 / full:.0f} MB/s")
    yield Figure(text="unityparser 4.0.0", found=f"{theirs['cpu']:.1f} s CPU, peak {theirs['peak_mb']:.0f} MB")
    yield Figure(
        text="npm unity-yaml-parser 0.1.7",
        found=f"{node['cpu']:.2f} s CPU, peak {node['peak_mb']:.0f} MB, {node['documents']} of {documents} documents",
    )
    yield at_least("full read against unityparser", theirs["cpu"] / full, FULL, f"{theirs['cpu']:.1f} s / {full:.3f} s")
    detail = f"{theirs['cpu']:.1f} s / {structure:.3f} s"
    yield at_least("structure only against unityparser", theirs["cpu"] / structure, STRUCTURE, detail)
    yield at_least("full read against unity-yaml-parser", node["cpu"] / full, NODE, f"{node['cpu']:.2f} s / {full:.3f} s")


def _measure_calls(root: Path, path: str) -> Iterator[Figure]:
    """The tool itself: looking whether the project changed, and the whole hierarchy of the scene."""
    pack = UnityPack()
    handlers = asyncio.run(pack.open(Environment(settings={"root": str(root)})))
    dump, spent = handlers["scene.hierarchy.dump"], []
    for _ in range(CALLS):
        began = time.perf_counter()
        dump({"scenePath": path}, _Quiet())  # type: ignore[arg-type]
        spent.append(time.perf_counter() - began)
    asyncio.run(pack.close())
    first, again = spent[0], statistics.median(spent[1:])
    yield at_most("unchanged second call", again / first, SECOND, f"{again * 1e3:.3f} ms / {first * 1e3:.0f} ms")


def _measure_wire(root: Path, path: str) -> Iterator[Figure]:
    """The same over stdio, where writing the answer is part of every call."""
    for title, more in (("whole hierarchy", {}), ("a page of 100 objects", {"pageSize": 100})):
        answers, spent = _drive(root, {"scenePath": path, **more})
        first, again = spent[0], statistics.median(spent[1:])
        detail = f"{again * 1e3:.2f} ms / {first * 1e3:.0f} ms, {len(answers[0]) / 1e3:.0f} kB"
        yield at_most(f"unchanged second call over stdio, {title}", again / first, SECOND, detail)
        assert len(set(answers)) == 1, "the same call must give the same bytes"


def _drive(root: Path, arguments: dict[str, Any]) -> tuple[list[bytes], list[float]]:
    settings = root.parent / "strictwire.toml"
    settings.write_text(f'[packs.unity]\nroot = "{root}"\n[audit]\nmode = "off"\n')
    command = [sys.executable, "-m", "strictwire.cli.main", "serve", "--stdio", "--pack=unity", "--profile=editor/0.1"]
    params = {"tool": "scene.hierarchy.dump", "arguments": arguments}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode() + b"\n"
    ready = b'{"jsonrpc":"2.0","id":0,"method":"server/info","params":{}}\n'
    with subprocess.Popen(
        [*command, "--config", str(settings)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        _ask(server, ready)
        answers, spent = [], []
        for _ in range(CALLS):
            began = time.perf_counter()
            answers.append(_ask(server, request))
            spent.append(time.perf_counter() - began)
        server.stdin.close()
    return answers, spent


def _ask(server: subprocess.Popen[bytes], line: bytes) -> bytes:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(line)
    server.stdin.flush()
    return server.stdout.readline()
