"""Calls one tool as an unprivileged user: `unprivileged.py ROOT TOOL PATH`. Prints the code and the reason, or `ok`.

Everything is imported and opened before the privileges are dropped, because the interpreter may be installed where only root
can read.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

from strictwire.contract.handler import CallContext
from strictwire.fault.failure import Facts, Refused
from strictwire.packs.pack import Environment
from strictwire.packs.workspace.pack import WorkspacePack
from strictwire.packs.workspace.plans.plan_files import PlanFiles  # noqa: F401 - must be imported before privileges are dropped

NOBODY = 65534


class Context:
    def __init__(self) -> None:
        self.facts = {"principal": "local"}

    def attribute(self, facts: Facts) -> None:
        pass


def main(root: str, tool: str, path: str) -> None:
    state = Path(tempfile.mkdtemp())
    handlers: Any = asyncio.run(WorkspacePack().open(Environment(settings={"roots": [root]}, state=state)))
    context = cast("CallContext", Context())
    if os.geteuid() == 0:
        for part in (state, *state.rglob("*")):
            os.chown(part, NOBODY, NOBODY)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    session = handlers["begin_session"]({"workspace_root": root, "role": "ANTIGRAVITY"}, context).structured["session_id"]
    head = f"# Failure report\nSession: {session}\nError code: X_Y\n"
    report = head + "## What happened\na\n## Cause\nb\n## Next step\nc\n"
    more = {"content": report} if tool == "write_file" else {}
    try:
        handlers[tool]({"session_id": session, "path": path, **more}, context)
    except Refused as exc:
        print(exc.failure.code, exc.failure.details.get("reason"))
    else:
        print("ok")


if __name__ == "__main__":
    main(*sys.argv[1:])
