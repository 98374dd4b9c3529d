"""A file that was made for a press is there when its browser comes for it, however many other sessions ran."""

from collections.abc import Callable

import pytest
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, DeferredFileRequestPayload
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from core.errors import NotAvailable
from pages.views.common.crash import MadeFiles, tell_refused_files
from tests.loops import finish

MB = 2**20


@pytest.fixture
def files() -> MediaFileManager:
    return MediaFileManager(MemoryMediaFileStorage("/media"))


def made(files: MediaFileManager, data: bytes) -> str:
    """Address of a file that was made for a press, unkept."""
    return files.execute_deferred(files.add_deferred(lambda: data, "text/plain", "a", "a.txt"))


def there(files: MediaFileManager, url: str) -> bool:
    return files.read_file(url.rpartition("/")[2]) is not None


def runs_end(files: MediaFileManager, count: int = 2) -> None:
    """What Streamlit does when runs of other sessions end."""
    for _ in range(count):
        files.remove_orphaned_files()


def test_a_pressed_button_s_file_outlives_the_runs_of_others(files: MediaFileManager) -> None:
    tell_refused_files()
    tell_refused_files()  # in every run of the app
    asked = DeferredFileRequestPayload(file_id=files.add_deferred(lambda: b"made", "text/plain", "a", "a.txt"))
    request = BackendOperationRequest(request_id="1", deferred_file=asked)
    url = finish(DeferredFileHandler(lambda: files).handle(request, "session")).deferred_file.url
    runs_end(files, 20)
    assert there(files, url)


def test_without_being_kept_it_is_gone(files: MediaFileManager) -> None:
    url = made(files, b"made")
    runs_end(files)
    assert not there(files, url)


def test_it_is_kept_for_a_while_and_then_left_to_streamlit(files: MediaFileManager) -> None:
    now = [100.0]
    held = MadeFiles(seconds=60, clock=lambda: now[0])
    first, second = made(files, b"first"), made(files, b"second")
    held.hold(files, first)
    now[0] += 50
    held.hold(files, second)
    now[0] += 20
    held.let_go(files)
    runs_end(files)
    assert [there(files, each) for each in (first, second)] == [False, True]
    now[0] += 60
    held.let_go(files)
    runs_end(files)
    assert not there(files, second)


def test_the_newest_stay_within_so_much_memory(files: MediaFileManager) -> None:
    held = MadeFiles(most_mb=4)
    urls = [made(files, bytes([number]) * 2 * MB) for number in range(4)]
    for each in urls:
        held.hold(files, each)
    runs_end(files)
    assert [there(files, each) for each in urls] == [False, False, True, True]
    large = made(files, bytes(9 * MB))
    held.hold(files, large)
    runs_end(files)
    assert [there(files, each) for each in (*urls, large)] == [False] * 4 + [True]


def test_the_same_content_is_held_once_and_anew(files: MediaFileManager) -> None:
    now = [0.0]
    held = MadeFiles(seconds=60, clock=lambda: now[0])
    for _ in range(3):
        url = made(files, b"same")
        held.hold(files, url)
        now[0] += 40
    runs_end(files)
    assert there(files, url)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (NotAvailable("there is time again in 40 s"), "There is time again in 40 s."),
        (KeyError("a dog on Ann's sofa"), "a fault of Invariscope itself"),
    ],
)
def test_a_file_that_is_not_made_says_why_beside_its_button(error: Exception, told: str) -> None:
    def refused() -> bytes:
        raise error

    sentence = _answer(refused).error_msg
    assert told in sentence
    assert "Ann" not in sentence


def test_a_file_that_is_made_has_an_address() -> None:
    answer = _answer(lambda: b"made")
    assert answer.deferred_file.url.startswith("/media/")
    assert not answer.error_msg


def _answer(data: Callable[[], bytes]) -> BackendOperationResponse:
    """What Streamlit's own handler, as the app has it, answers who presses a button."""
    tell_refused_files()
    files = MediaFileManager(MemoryMediaFileStorage("/media"))
    asked = DeferredFileRequestPayload(file_id=files.add_deferred(data, "text/plain", "a", "a.txt"))
    request = BackendOperationRequest(request_id="1", deferred_file=asked)
    return finish(DeferredFileHandler(lambda: files).handle(request, "session"))
