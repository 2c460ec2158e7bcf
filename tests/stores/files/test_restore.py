"""Files that were deleted while the writer has them open."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from strictwire.stores.fault import LogFault
from strictwire.stores.files.config import open_writer
from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.layout import HASHES
from tests.stores.trails import body, call_ids, records_of, trail_in, verify


def test_a_deleted_folder_is_told_and_what_was_in_the_newest_file_comes_back_with_the_folder(tmp_path: Path):
    trail = trail_in(tmp_path)
    log = open_writer(trail)
    log.append([body("a")])
    log.sign()
    shutil.rmtree(trail.folder)
    for _ in range(2):
        with pytest.raises(LogFault) as refused:
            log.append([body("lost")])
        assert refused.value.reason == "folder_missing"
    trail.folder.mkdir(mode=0o700)
    log.append([body("b")])
    log.sign()
    records = records_of(FolderDisk(trail.folder))

    assert call_ids(records) == ["a", "b"]
    assert (records[1]["kind"], records[1]["reason"]) == ("recovery", "restored")
    assert verify(trail).ok
    log.close()


def test_a_folder_that_is_moved_away_and_back_is_simply_used_again(tmp_path: Path):
    trail = trail_in(tmp_path)
    log = open_writer(trail)
    log.append([body("a")])
    trail.folder.rename(tmp_path / "away")
    with pytest.raises(LogFault):
        log.append([body("lost")])
    (tmp_path / "away").rename(trail.folder)
    log.append([body("b")])
    log.close()

    assert call_ids(records_of(FolderDisk(trail.folder))) == ["a", "b"]
    assert verify(trail).ok


def test_the_hashes_that_somebody_deleted_are_put_back(tmp_path: Path):
    trail = trail_in(tmp_path)
    log = open_writer(trail)
    log.append([body("a"), body("b")])
    (trail.folder / HASHES).unlink()
    log.sign()

    assert (trail.folder / HASHES).stat().st_size == 96
    log.close()
