"""All references of a generated project of 50 MB beside prefab-sentinel, and what an index saves.

The peer is not on PyPI, npm or Debian. It is measured if `.bench/prefab-sentinel` is a checkout of
github.com/tyunta/prefab-sentinel.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.packs.unity.writer_sizes import write_large_project

from benchmarks.unity_figures import Figure, at_least, at_most, cpu_seconds
from benchmarks.unity_peers import BENCH, SECONDS
from strictwire.packs.unity.check.policy import CheckPolicy
from strictwire.packs.unity.check.run import check_project
from strictwire.packs.unity.project.project import open_project
from strictwire.packs.unity.references.graph import Graph, scan_project
from strictwire.packs.unity.references.index import ProjectIndex
from strictwire.packs.unity.references.missing import find_broken
from strictwire.packs.unity.references.resolve import Resolver
from strictwire.packs.unity.watching import ProjectWatch

ROUNDS: Final = 5
AGAINST_SENTINEL, SECOND = 10.0, 0.02
CHECKOUT: Final = BENCH / "prefab-sentinel"

SENTINEL: Final = """
import json, sys, time
from pathlib import Path
from prefab_sentinel.services.reference_resolver import ReferenceResolverService
began = time.process_time()
service = ReferenceResolverService(Path(sys.argv[1]))
answer = service.scan_broken_references(scope=sys.argv[1], include_diagnostics=sys.argv[2] == "places")
spent = time.process_time() - began
print(json.dumps({"cpu": spent, "references": answer.data["scanned_references"], "broken": answer.data["broken_count"]}))
"""
"""With `places` it gives the line of what is broken, as ours does."""


def measure() -> Iterator[Figure]:
    """Every figure about references."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        write_large_project(root)
        graph = _references(root)
        size = sum(asset.size for asset in graph.project.assets.values())
        yield Figure(text="project", found=f"{size / 1e6:.1f} MB, {len(graph.project.assets)} assets")
        ours = cpu_seconds(lambda: _references(root), ROUNDS)
        yield Figure(
            text="all references, found and resolved", found=f"{ours * 1e3:.0f} ms CPU, {size / 1e6 / ours:.0f} MB/s"
        )
        yield from _measure_sentinel(root, ours)
        whole = cpu_seconds(lambda: _check(root), 1)
        yield Figure(text="unity check, every rule", found=f"{whole:.2f} s CPU")
        yield from _measure_index(root, Path(folder) / "state")


def _references(root: Path) -> Graph:
    """Read every file, and resolve every reference in it."""
    project = open_project(root)
    try:
        graph = scan_project(project)
        resolver = Resolver(graph)
        broken = [path for path, scanned in graph.scans.items() if find_broken(scanned.scan, resolver)]
        assert broken == []
        return graph
    finally:
        project.close()


def _check(root: Path) -> None:
    project = open_project(root)
    try:
        assert check_project(scan_project(project), CheckPolicy()).findings == []
    finally:
        project.close()


def _measure_sentinel(root: Path, ours: float) -> Iterator[Figure]:
    text = "all references against prefab-sentinel"
    version = _sentinel_version()
    if version is None:
        found = f"not measured: it is on no package index, and .bench/{CHECKOUT.name} is no checkout of it"
        yield Figure(text=text, found=found, wanted=f"at least {AGAINST_SENTINEL:g}x", reached=None)
        return
    plain, places = _run_sentinel(root, "plain"), _run_sentinel(root, "places")
    detail = f"version {version}, {places['cpu']:.2f} s / {ours:.2f} s, {places['references']:,} references"
    yield at_least(text, places["cpu"] / ours, AGAINST_SENTINEL, detail)
    yield Figure(text="the same without places", found=f"{plain['cpu'] / ours:.1f}x ({plain['cpu']:.2f} s)")


def _sentinel_version() -> str | None:
    """The version of the checkout; None if the folder is not the project itself, which its pyproject.toml tells."""
    try:
        project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return None
    return str(project.get("version")) if project.get("name") == "prefab-sentinel" else None


def _run_sentinel(root: Path, mode: str) -> dict[str, Any]:
    command = [sys.executable, "-c", SENTINEL, str(root), mode]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, timeout=SECONDS, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _measure_index(root: Path, state: Path) -> Iterator[Figure]:
    # Files that changed just now are not kept: their time stamps may be too coarse to show another change.
    time.sleep(0.2)
    first = _timed(ProjectIndex(root, folder=state))
    watch = ProjectWatch(root)
    again = ProjectIndex(root, folder=state, has_changed=watch.has_changed)
    restarted, compared = _timed(again), _timed(again)
    second = _timed(again)
    watch.close()
    yield at_most(
        "references, unchanged second call", second / first, SECOND, f"{second * 1e3:.1f} ms / {first * 1e3:.0f} ms"
    )
    yield Figure(text="references, after comparing every file", found=f"{compared * 1e3:.1f} ms")
    yield Figure(text="references, first call after a restart", found=f"{restarted * 1e3:.1f} ms")


def _timed(index: ProjectIndex) -> float:
    began = time.perf_counter()
    index.graph()
    return time.perf_counter() - began
