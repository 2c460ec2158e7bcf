"""What every official client sees when it drives the hard server, whatever its language, era and transport."""

from __future__ import annotations

from typing import Any

MODERN, LEGACY = "2026-07-28", "2025-11-25"


def expected(*, modern: bool, unread: int) -> dict[str, Any]:
    """The story. `unread` is the code under which the client shows a resource that does not exist."""
    return {
        "version": MODERN if modern else LEGACY,
        "server": "hard",
        "instructions": "Handle with care.",
        "tools": ["add", "ask_name", "refuse_mcp"],
        "sum": {"result": 3},
        "mirrored": "limit, nested, region",
        "resources": ["hard://leak", "hard://number"],
        "templates": ["hard://watched/{name}"],
        "read": "x",
        "unread": unread,
        "prompts": ["leaking_prompt", "wrong_prompt", "greet"],
        "prompt": "Ann good",
        "completion": [100, 150, True],
        "progress": [1, 2, 3],
        "logs": ["error", "critical", "alert", "emergency"],
        "asked": "Hello First Last",
        "sampled": "The model says well",
        "roots": ["file:///w"],
        "invalid": "INVALID_PARAMS",
        "leaked": "TOOL_FAILED",
        "unknown": -32602,
        "refused": {"mcp": [True, 1, modern], "resolve_v0": [True, 1, modern], "system_1_0": [True, 11, modern]},
        "thrown": -32603,
        "cancelled": True,
        "changes": True,
    }
