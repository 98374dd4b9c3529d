"""What Streamlit's endpoint for uploads takes of whom; the sums are those of a server's own files."""

from pathlib import Path

import pytest
from starlette.exceptions import HTTPException
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.views.common import upload_limits
from pages.views.common.upload_limits import MB, OPERATOR_MB, VIEWER_MB, guard
from siege import endpoint
from siege.trials import Tally


def file(name: str, size_mb: int = 1) -> UploadedFileRec:
    return UploadedFileRec(name, f"{name}.bin", "application/octet-stream", bytes(size_mb * MB))


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> MemoryUploadedFileManager:
    monkeypatch.setattr(upload_limits, "VIEWERS_MB", 6)
    return MemoryUploadedFileManager("/upload")


def test_a_session_that_no_page_knows_or_that_may_bring_nothing_is_refused(files: MemoryUploadedFileManager) -> None:
    guard(files).allow("viewer", 0)
    for session in ("viewer", "nobody"):
        with pytest.raises(HTTPException) as refusal:
            files.add_file(session, file("a"))
        assert refusal.value.status_code == 403
    assert not files.file_storage


def test_a_session_holds_so_much_and_has_room_again_once_it_let_go(files: MemoryUploadedFileManager) -> None:
    guard(files).allow("one", 3)
    for name in "ab":
        files.add_file("one", file(name))
    files.add_file("one", file("b", 2))  # in place of the one of before
    with pytest.raises(HTTPException, match="413: The files of one session may take 3 MB together"):
        files.add_file("one", file("c"))
    files.remove_file("one", "a")
    files.add_file("one", file("c"))
    guard(files).allow("one", 0)
    with pytest.raises(HTTPException, match="may bring no files"):
        files.add_file("one", file("d"))


def test_viewers_together_have_their_share_and_take_nothing_of_an_operator_s(files: MemoryUploadedFileManager) -> None:
    limits = guard(files)
    assert guard(files) is limits
    limits.allow("operator", OPERATOR_MB)
    files.add_file("operator", file("large", 8))
    for name in "abc":
        limits.allow(name, VIEWER_MB)
    files.add_file("a", file("x", 3))
    files.add_file("b", file("x", 3))
    with pytest.raises(HTTPException, match="413: Other readers' files"):
        files.add_file("c", file("x"))
    files.add_file("operator", file("more", 8))
    files.remove_session_files("a")
    files.add_file("c", file("x"))


@pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")
def test_a_real_server_refuses_who_may_bring_nothing_and_who_brings_too_much(tmp_path: Path) -> None:
    tally = Tally("uploads")
    endpoint.run(tally)
    assert tally.found == []
    assert tally.counts["survived"] == tally.tried > 5
