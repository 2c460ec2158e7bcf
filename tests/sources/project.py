"""Creates a small git project: schema files, a contract document and a test."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import msgspec

from strictwire.canon.json import render

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "$schema": DIALECT,
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


READ = closed(uri={"type": "string", "pattern": "^file:", "maxLength": 4096})
READ_OUTPUT = closed(text={"type": "string"})
READ_CONTRACT = {"description": "Returns the text of one file.", "annotations": {"readOnlyHint": True}, "tier": "core"}


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(value if isinstance(value, bytes) else msgspec.json.format(render(value), indent=2) + b"\n")


def write_project(root: Path) -> Path:
    tools = root / "schemas" / "tools"
    write(tools / "read.json", READ)
    write(tools / "read.output.json", READ_OUTPUT)
    write(tools / "read.contract.json", READ_CONTRACT)
    write(root / "docs" / "CONTRACT.md", b"| read | one file |\n")
    write(root / "tests" / "test_read.py", b"")
    return root / "schemas"


def git(root: Path, *arguments: str) -> None:
    command = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    subprocess.run(command, check=True, capture_output=True)


def commit_all(root: Path, tag: str) -> None:
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "--no-gpg-sign", "-m", tag)
    git(root, "tag", tag)
