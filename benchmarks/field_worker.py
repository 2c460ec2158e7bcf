"""Runs one other tool on the lists and pairs of standard input. `field_peers` starts it with the Python of that tool.

Imports nothing of strictwire: it runs in the environment of the other tool. Input: `{"pairs": [[OLD, NEW], ...], "lists":
{NAME: TOOLS}}`. Output: the breaking changes of each pair, and `[check, tool]` for each finding of a list.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Tools = list[dict[str, Any]]


def mcp_contract(old: Tools, new: Tools) -> list[str]:
    from mcp_contract.compare import compare
    from mcp_contract.model import Contract
    from mcp_contract.probe import surface_from_schema

    def contract(tools: Tools) -> Any:
        surfaces = [surface_from_schema(t["name"], t["description"], t["inputSchema"], t.get("outputSchema")) for t in tools]
        return Contract(tools=surfaces)

    changes = compare(contract(old), contract(new)).changes
    return [f"{each.kind} {each.tool}" for each in changes if each.severity == "breaking"]


def mcp_diff(old: Tools, new: Tools) -> list[str]:
    from mcp_diff.diff import classify_changes

    return [f"{each.kind} {each.tool}" for each in classify_changes(old, new) if each.severity == "breaking"]


def mcp_compat(old: Tools, new: Tools) -> list[str]:
    from mcp_compat.compat import compare_schemas

    return [f"{each.message} {each.tool}" for each in compare_schemas(old, new).breaking]


def agent_friend(tools: Tools) -> list[list[str]]:
    from agent_friend.validate import validate_tools

    return [[each.check, each.tool] for each in validate_tools(tools)[0]]


def mcp_quality(tools: Tools) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tools.json"
        path.write_text(json.dumps({"tools": tools}), "utf-8")
        command = [str(Path(sys.executable).with_name("mcp-quality")), "static", "--json", "--all", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)
    families = json.loads(done.stdout)["families"].values()
    return [[each["code"], each.get("tool") or ""] for family in families for each in family["findings"]]


def mcplock(tools: Tools) -> list[list[str]]:
    from mcplock.lint.ambiguity import find_ambiguities
    from mcplock.lint.scope import find_scope_issues

    pairs = [["ambiguity", f"{each.tool_name} {each.related_tool}"] for each in find_ambiguities(tools)]
    return pairs + [["missing_scope", each.tool_name] for each in find_scope_issues(tools)]


def cisco(tools: Tools) -> list[list[str]]:
    from mcpscanner.core.analyzers.yara_analyzer import YaraAnalyzer

    analyzer = YaraAnalyzer()
    found = []
    for tool in tools:
        # As the scanner does: the description, and the parameters as JSON.
        for content in (tool["description"], json.dumps(tool["inputSchema"])):
            findings = asyncio.run(analyzer.analyze(content, {"tool_name": tool["name"]}))
            found += [[str(each.threat_category), tool["name"]] for each in findings]
    return found


PAIRS: dict[str, Callable[[Tools, Tools], list[str]]] = {
    "mcp-contract": mcp_contract,
    "mcp-diff": mcp_diff,
    "mcp-compat": mcp_compat,
}
LISTS: dict[str, Callable[[Tools], list[list[str]]]] = {
    "agent-friend": agent_friend,
    "mcp-quality": mcp_quality,
    "mcplock": mcplock,
    "cisco-ai-mcp-scanner": cisco,
}


def main(name: str) -> None:
    given = json.load(sys.stdin)
    answer: dict[str, Any] = {}
    if name in PAIRS:
        answer["pairs"] = [_tried(PAIRS[name], old, new) for old, new in given["pairs"]]
    else:
        answer["lists"] = {each: LISTS[name](tools) for each, tools in given["lists"].items()}
    json.dump(answer, sys.stdout)


def _tried(compare: Callable[[Tools, Tools], list[str]], old: Tools, new: Tools) -> list[str] | str:
    try:
        return compare(old, new)
    except Exception as exc:  # noqa: BLE001 - another tool may fail in any way; the table counts it
        return f"{type(exc).__name__}: {exc}"


if __name__ == "__main__":
    main(sys.argv[1])
