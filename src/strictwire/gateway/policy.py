"""Which tools of an upstream may be used: patterns of names, allowed and denied. What is denied is not listed either."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from strictwire.canon.digest import digest
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Call, Kind, Operation


class ToolPolicy:
    """Shell patterns of tool names. Denied wins; without `allow` everything is allowed that is not denied."""

    def __init__(self, *, allow: Sequence[str] = (), deny: Sequence[str] = ()) -> None:
        self._allow, self._deny = tuple(allow), tuple(deny)
        self.version = digest({"allow": list(allow), "deny": list(deny)}) if allow or deny else "none"
        """Names this policy in the audit trail."""

    def permits(self, name: str) -> bool:
        """Whether a tool of this name may be shown and called."""
        if any(fnmatchcase(name, pattern) for pattern in self._deny):
            return False
        return not self._allow or any(fnmatchcase(name, pattern) for pattern in self._allow)

    def judge(self, operation: Operation, call: Call) -> Failure | None:
        """PERMISSION_DENIED for a tool that may not be called."""
        if operation.kind is not Kind.TOOL or self.permits(call.target):
            return None
        return fail("PERMISSION_DENIED")
