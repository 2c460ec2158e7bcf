"""The table that maps OSError to failure codes."""

from __future__ import annotations

import errno

import pytest

from strictwire.fault.failure import fail
from strictwire.packs.kit.refusals import Aim, content_refusal, path_refusal


@pytest.mark.parametrize("aim", list(Aim))
def test_every_system_error_has_a_code_and_a_reason(aim: Aim) -> None:
    for number in errno.errorcode:
        failure = path_refusal(OSError(number, "text of the system"), aim).failure

        assert failure == fail(failure.code, details=failure.details, cause=failure.cause)
        assert failure.details or failure.code in {"PATH_NOT_FOUND", "FILE_NOT_FOUND"}


def test_an_error_after_opening_a_file_has_no_path_code() -> None:
    codes = {content_refusal(OSError(number, ""), Aim.READ).failure.code for number in errno.errorcode}

    assert codes == {"FILE_READ_FAILED"}


def test_the_cause_keeps_the_number_and_drops_the_name_of_the_file() -> None:
    failure = path_refusal(PermissionError(errno.EACCES, "Permission denied", "/home/someone/key"), Aim.READ).failure

    assert failure.cause == {
        "message": "[Errno 13] Permission denied",
        "code": "EACCES",
        "name": "PermissionError",
    }
