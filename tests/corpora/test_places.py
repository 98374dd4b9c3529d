"""Which paths are ordinary, and which first line is a table's."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from core.corpora.images import read_header, read_image
from core.corpora.ordinary_paths import lies_in, ordinary
from core.corpora.registry import catalogue
from core.corpora.table_cells import LONGEST, MOST_COLUMNS, check_columns, check_csv_header
from core.errors import BadCorpus, BadImage, InvalidInput, NotAvailable
from core.evaluators.pool import check_device, devices


def test_an_ordinary_path_comes_back_whether_something_lies_there_or_not(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    (tmp_path / "to nothing").symlink_to(tmp_path / "gone")
    for name in (".", "a.txt", "link", "to nothing", "nothing/at all", "a.txt/below a file"):
        assert ordinary(tmp_path / name) == tmp_path / name
    assert ordinary(Path("-")) == Path("-")


@pytest.mark.parametrize(
    "path", ["/proc", "/proc/self/environ", "/sys/kernel", "/dev", "/dev/zero", "/tmp/../proc/version"]
)
def test_what_is_the_kernels_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="where the system shows itself"):
        ordinary(Path(path))


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no memory that is used as a disk")
def test_memory_that_is_used_as_a_disk_is_ordinary() -> None:
    assert ordinary(Path("/dev/shm/corpus")) == Path("/dev/shm/corpus")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(path))


def circle(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (pipe, "is a pipe"),
        (listening, "is a socket"),
        (circle, "no path that can be followed"),
        (lambda path: path.symlink_to("/dev/zero"), "lies in /dev"),
    ],
)
def test_what_is_no_file_is_refused_itself_and_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], told: str
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    make(Path("x.json"))
    Path("link").symlink_to("x.json")
    for name in ("x.json", "link"):
        with pytest.raises(InvalidInput, match=told):
            ordinary(Path(name))


@pytest.mark.parametrize("path", ["nul\0byte", "x" * 5000])
def test_what_no_disk_holds_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="no path that can be followed"):
        ordinary(Path(path))


def test_a_pipe_in_a_folder_of_pictures_is_left_out_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jpg")
    for read in (read_image, read_header):
        with pytest.raises(BadImage, match="a pipe, socket or device is no picture"):
            read(tmp_path / "a.jpg")
    from PIL import Image

    Image.new("RGB", (20, 20)).save(tmp_path / "b.png")
    corpus = catalogue().get("folder").load(tmp_path)
    assert [item.id for item in corpus.items] == ["b.png"]
    assert [each.code for each in corpus.rejected] == ["bad-image"]


def test_a_folder_counts_as_inside_once_its_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "out").symlink_to("/etc")
    roots = [tmp_path / "data"]
    assert lies_in(tmp_path / "data" / "corpus", roots)
    assert not lies_in(tmp_path / "data" / "out", roots)
    assert not lies_in(tmp_path / "data" / ".." / "other", roots)
    assert not lies_in(tmp_path / "database", roots)
    assert not lies_in(Path("/x\0y"), roots)


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_a_million_columns_are_refused_by_the_first_line_alone(tmp_path: Path, between: str) -> None:
    path = tmp_path / "captions.csv"
    path.write_text(between.join("c" for _ in range(40_000)) + "\n1")
    with pytest.raises(BadCorpus, match=f"40,000 columns by its first line, and at most {MOST_COLUMNS:,}"):
        check_csv_header(path)
    path.write_text(between.join(f"column{number}" for number in range(1_000_000)))
    with pytest.raises(BadCorpus, match=f"more than {LONGEST:,} characters") as raised:
        catalogue().get("folder").load(with_picture(tmp_path))
    assert len(str(raised.value)) < 400
    check_columns(between.join("c" for _ in range(MOST_COLUMNS)) + "\n" + between * 5000, where="x")


def with_picture(folder: Path) -> Path:
    from PIL import Image

    Image.new("RGB", (20, 20)).save(folder / "b.png")
    return folder


def test_a_device_is_one_that_is_here() -> None:
    assert devices()[0] == "cpu"
    assert check_device("cpu") == "cpu"
    for name in ("cuda:4711", "toaster", "", "CPU"):
        with pytest.raises(NotAvailable, match="on this machine, which has cpu"):
            check_device(name)
