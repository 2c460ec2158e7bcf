"""editor.selection.info: known to a running Editor alone."""

from __future__ import annotations

from strictwire.packs.unity.tools.refusals import unity_error
from strictwire.packs.unity.tools.reply import Reply, Request


def selection(_request: Request) -> Reply:
    """editor.selection.info. Raises Refused(UNITY_ERROR), always."""
    reason = "The selection exists only in a running Unity Editor; this server reads the files of the project"
    raise unity_error("No Editor is running", reason)
