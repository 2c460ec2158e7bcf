"""Faults of the trail: errors of the operating system in stable words, and the failure for the caller of a tool."""

from __future__ import annotations

import errno

import pytest

from strictwire.stores.fault import LOCK_FAILED, LogFault, mapped_errors


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "disk_full"),
        (errno.EROFS, "read_only"),
        (errno.ENOENT, "folder_missing"),
        (errno.EACCES, "denied"),
        (errno.EMFILE, "too_many_files"),
        (errno.EIO, "io_error"),
        (None, "io_error"),
    ],
)
def test_an_error_of_the_operating_system_becomes_a_stable_word(number: int | None, reason: str):
    with pytest.raises(LogFault) as raised, mapped_errors():
        raise OSError(number, "the system's own words, and a path")
    failure = raised.value.as_failure()

    assert (failure.code, dict(failure.details)) == ("AUDIT_LOG_FAILED", {"reason": reason})
    assert failure.cause == {"code": "AUDIT_LOG_FAILED", "reason": reason}


def test_a_fault_names_what_is_known():
    faults = [
        LogFault("damaged", record=7),
        LogFault("lock_held", code=LOCK_FAILED, owner="pid 12"),
        LogFault("disk_full"),
    ]

    assert [str(fault) for fault in faults] == [
        "AUDIT_LOG_FAILED: damaged at record 7",
        "AUDIT_LOCK_FAILED: lock_held by pid 12",
        "AUDIT_LOG_FAILED: disk_full",
    ]
    assert [fault.as_failure().cause for fault in faults[:2]] == [
        {"code": "AUDIT_LOG_FAILED", "reason": "damaged", "record": 7},
        {"code": "AUDIT_LOCK_FAILED", "reason": "lock_held", "owner": "pid 12"},
    ]
