"""The Unity peers: exact versions, installed into `.bench`, and one measurement of each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
BENCH: Final = ROOT / ".bench"
PYTHON: Final = BENCH / "unity"
NODE: Final = BENCH / "unity-node"
SECONDS: Final = 600.0

PYTHON_PACKAGES: Final = ("unityparser==4.0.0",)
NODE_PACKAGES: Final = {"unity-yaml-parser": "0.1.7"}

UNITYPARSER: Final = """
import json, resource, sys, time
from unityparser import UnityDocument
began = time.process_time()
document = UnityDocument.load_yaml(sys.argv[1])
spent = time.process_time() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"cpu": spent, "documents": len(document.entries), "peak_mb": peak}))
"""

NODE_PARSER: Final = """
import { parse } from "unity-yaml-parser";
parse(process.argv[2]);
const before = process.cpuUsage();
const found = parse(process.argv[2]);
const { user, system } = process.cpuUsage(before);
const peak = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify({ cpu: (user + system) / 1e6, documents: found.size, peak_mb: peak }));
"""
"""The second parse counts: the first one compiles."""


def install() -> None:
    """Make the environments. Safe to run again."""
    BENCH.mkdir(exist_ok=True)
    done = PYTHON / ".done"
    if not done.exists() or done.read_text() != " ".join(PYTHON_PACKAGES):
        if not (PYTHON / "bin" / "python").exists():
            venv.create(PYTHON, with_pip=True)
        pip = [str(PYTHON / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *PYTHON_PACKAGES], check=True)
        done.write_text(" ".join(PYTHON_PACKAGES))
    wanted = json.dumps({"private": True, "type": "module", "dependencies": NODE_PACKAGES}, indent=2)
    done = NODE / ".done"
    if not done.exists() or done.read_text() != wanted:
        NODE.mkdir(exist_ok=True)
        (NODE / "package.json").write_text(wanted)
        npm = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(npm, cwd=NODE, env=_environment(), check=True)
        done.write_text(wanted)
    (NODE / "parse.mjs").write_text(NODE_PARSER)


def run_unityparser(scene: Path) -> dict[str, Any]:
    """CPU seconds, documents and peak memory of unityparser."""
    return _run([str(PYTHON / "bin" / "python"), "-c", UNITYPARSER, str(scene)])


def run_node_parser(scene: Path) -> dict[str, Any]:
    """The same of npm unity-yaml-parser."""
    return _run(["node", str(NODE / "parse.mjs"), str(scene)])


def _run(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, env=_environment(), capture_output=True, timeout=SECONDS, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _environment() -> dict[str, str]:
    """With the Node that the virtual environment holds."""
    return dict(os.environ) | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
