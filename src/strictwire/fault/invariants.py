"""The product invariants by id. Ids are stable and never reused; a failure names the violated one (S12)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

INVARIANTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "MANDATORY_DIAGNOSTICS": "A governed tool runs only inside a session that begin_session has started.",
        "VALID_WORKSPACE_ROOT": "The root of a session is an absolute, existing and allowed directory.",
        "WORKSPACE_ROOT_FIXED": "The root of a session never changes while the session lives.",
        "PATH_WITHIN_WORKSPACE": "Every file read or written is inside the root of the session after resolving links.",
        "ROLE_SEPARATION": "A session has one role, and no role both plans and executes.",
        "LOCK_ENFORCED": "A locked session runs only the tools that stay available.",
        "PLAN_HASH_MATCH": "A plan in use has the hash under which it was approved.",
        "PLAN_APPROVED": "A write happens only under a plan with a valid approval.",
        "PLAN_SCOPE_ENFORCED": "A write stays within the paths, operations and phases of its plan.",
        "PLAN_IMMUTABLE": "An approved plan never changes; a change is a new plan.",
        "POLICY_BEFORE_WRITE": "Policy checks the whole content before any byte of it is written.",
        "WRITE_ATOMIC": "A write is applied completely or not at all.",
        "HASH_BEFORE_WRITE": "A change applies only to the content that its author has read.",
        "INTENT_BEFORE_MUTATION": "The record of an intended change is durable before the change begins.",
        "AUDIT_BEFORE_ANSWER": "The record of a call is durable before the transport gets its response.",
        "HASH_CHAIN_INTACT": "Every record of the audit trail contains the hash of the previous record.",
        "SEQUENCE_CONTINUOUS": "The records of the audit trail are numbered without a gap.",
        "CONTRACT_LOCKED": "The server serves exactly the schemas of the lock file.",
        "OUTPUT_FITS_CONTRACT": "Every result of a tool conforms to its output schema.",
        "ERROR_CODES_COMPLETE": "Every code in use is in the catalogue and has a rendering in every dialect.",
    }
)
"""The statement that always holds, by id."""
