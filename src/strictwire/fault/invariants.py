"""The invariants of the product, by id. Ids are stable and never reused; a failure names the one that broke (S12)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

INVARIANTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "MANDATORY_DIAGNOSTICS": "A governed tool runs only inside a session that begin_session has started.",
        "VALID_WORKSPACE_ROOT": "The root of a session is an absolute, existing and allowed directory.",
        "WORKSPACE_ROOT_FIXED": "The root of a session never changes while the session lives.",
        "PATH_WITHIN_WORKSPACE": "What is read or written lies inside the root of the session, links resolved.",
        "ROLE_SEPARATION": "A session has one role, and no role both plans and executes.",
        "LOCK_ENFORCED": "A locked session runs only the tools that stay open.",
        "PLAN_HASH_MATCH": "A plan that is used has the hash under which it was approved.",
        "PLAN_APPROVED": "A write happens only under a plan with a valid approval.",
        "PLAN_SCOPE_ENFORCED": "A write stays inside the paths, operations and phases of its plan.",
        "PLAN_IMMUTABLE": "An approved plan is never changed; a change is a new plan.",
        "POLICY_BEFORE_WRITE": "Policy has judged the content before a byte of it is written.",
        "WRITE_ATOMIC": "A file holds either all of a write or nothing of it.",
        "HASH_BEFORE_WRITE": "A change is made only to the content that its author has seen.",
        "INTENT_BEFORE_MUTATION": "The record of an intended change is durable before the change begins.",
        "AUDIT_BEFORE_ANSWER": "The record of a call is durable before its answer is handed to the transport.",
        "HASH_CHAIN_INTACT": "Every record of the audit trail holds the hash of the one before it.",
        "SEQUENCE_CONTINUOUS": "The records of the audit trail are numbered without a gap.",
        "CONTRACT_LOCKED": "The schemas that are served are those of the lock file.",
        "OUTPUT_FITS_CONTRACT": "What a tool returns fits its output schema.",
        "ERROR_CODES_COMPLETE": "Every code that is given is in the catalogue, with a rendering in every dialect.",
    }
)
"""Id to what stays true."""
