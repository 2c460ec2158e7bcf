"""The tool read_prompt: the instructions for an agent in each role."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.workspace.grants import Grants
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.session_store import Session, SessionStore

_COMMON: Final = """
Every failure is an envelope with an `error_code`. Act on the code, not on the sentence. After a failure that locks the
session, `session_status` says why; write the failure report it asks for to `docs/reports/<name>.md` with `write_file`,
then go on. Reading is open at all times. Everything you do is recorded.
"""

PROMPTS: Final[Mapping[Role, str]] = MappingProxyType(
    {
        Role.ANTIGRAVITY: f"""# You plan

You read the workspace and write plans; you change no other file. Others approve and execute what you write, so a plan
says exactly what is to be done.

1. Look first: `list_files`, `search_text`, `read_file`, `list_plans`.
2. Write one plan with `create_plan`: phases with their operations, the paths that may be touched and no others, the commands
   that must pass after every change, what is forbidden, what happens on failure.
3. Leave nothing open: no "should", no "if possible". An objective is a sentence, not code.
4. Have the plan approved by someone else. A plan is never changed afterwards; a change is a new plan.
5. When it was executed, `replay_execution` tells what happened and `generate_attestation_bundle` proves it.
{_COMMON}""",
        Role.WINDSURF: f"""# You execute

You change files, only under an approved plan and only as it says. What the plan does not name you do not touch; if the plan
is wrong, stop and say so.

1. Read the plan whole: `read_plan`. Work through its phases in order and name `plan_hash` and `phase_id` in every change.
2. Read a file before you change it and give its hash as `previousHash`. On `HASH_MISMATCH` read it again.
3. Write finished code: no placeholders, no swallowed errors, no checks switched off. Changes that belong together go into
   one `apply_changes`.
4. The plan's commands run after every change; if one fails, the change is undone and the session locks.
5. When a phase is done, `commit_phase` commits the files it changed.
{_COMMON}""",
    }
)
"""Role to instructions. The settings may replace them."""

INSTRUCTIONS: Final = (
    "Governed workspace: read freely, change files only under an approved plan. 1. begin_session as ANTIGRAVITY, look with "
    "list_files, search_text and read_file, then create_plan; session_status lists the programs that its commands may use. "
    "2. Someone else approves: approve_plan, or a person with `strictwire plan approve`. 3. begin_session as WINDSURF, then "
    "write_file, move_file, delete_file or apply_changes with plan_hash and phase_id, then commit_phase. A refusal says "
    "what would work; if it says SESSION_LOCKED, write the failure report that it describes."
)
"""What the server tells every client when it connects."""

SUFFIX: Final = "_CANONICAL"
"""Ending of the prompt names."""


class Prompts:
    """The tool read_prompt."""

    def __init__(self, store: SessionStore, grants: Grants) -> None:
        self._store = store
        self._texts = {**PROMPTS, **grants.prompts}

    def read(self, session: Session, arguments: JsonObject) -> JsonObject:
        """Return the prompt of the session's role. Raises Refused: UNAUTHORIZED_ACTION for the prompt of another role."""
        name = f"{session.role}{SUFFIX}"
        if arguments.get("name", name) != name:
            raise refuse("UNAUTHORIZED_ACTION", f"This session is {session.role}; its prompt is {name}", "role")
        text = self._texts[session.role]
        self._store.mark_prompt_read(session)
        return {"name": name, "sha256": hashlib.sha256(text.encode()).hexdigest(), "content": text}
