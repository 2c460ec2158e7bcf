"""Over HTTP the principal is the owner of the token, and only that principal can use the session."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.packs.workspace.http_server import serve_http


@pytest.mark.slow
@pytest.mark.clause("S10", "S12")
def test_roles_and_sessions_belong_to_the_owner_of_the_token(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    roles = {"ANTIGRAVITY": ["ada"], "WINDSURF": ["bob"]}
    with serve_http(tmp_path, root, owners=("ada", "bob"), roles=roles) as server:
        ada = server.call("ada", "begin_session", workspace_root=str(root), role="ANTIGRAVITY")
        bob = server.call("bob", "begin_session", workspace_root=str(root), role="ANTIGRAVITY")
        taken = server.call("bob", "session_status", session_id=ada["session_id"])
        seen = server.call("ada", "read_audit_log", session_id=ada["session_id"])

    assert (ada["role"], bob["error_code"]) == ("ANTIGRAVITY", "INSUFFICIENT_PERMISSIONS")
    assert taken["error_code"] == "SESSION_NOT_INITIALIZED"
    assert {each["principal"] for each in seen["items"]} == {"ada"}
