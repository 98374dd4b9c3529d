"""Paths and JSON from a stranger's file, and which paths are ordinary."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora.boxes import read_box
from core.corpora.corpus_files import LeftOut, inside, parse_json, read_json, whole_number
from core.corpora.images import read_header, read_image
from core.corpora.ordinary_paths import lies_in, ordinary
from core.corpora.registry import catalogue
from core.corpora.schema import Box
from core.corpora.table_cells import LONGEST, MOST_COLUMNS, check_columns
from core.errors import BadCorpus, BadImage, InvalidInput, NotAvailable
from core.evaluators.pool import check_device, devices
from core.settings import ROOT


@pytest.mark.parametrize("name", ["a.jpg", "sub/a.jpg", "./a.jpg", "..a.jpg", "a..jpg", "été.jpg"])
def test_a_relative_path_is_joined(tmp_path: Path, name: str) -> None:
    assert inside(tmp_path, name) == tmp_path / name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "/etc/passwd",
        "../a.jpg",
        "sub/../../a.jpg",
        "sub\\..\\..\\a.jpg",
        "\\\\host\\a.jpg",
        "C:\\a.jpg",
        "C:a",
        "a\0.jpg",
    ],
)
def test_a_path_that_could_leave_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"no relative path|climbs out"):
        inside(tmp_path, name)


def test_a_link_is_followed_only_inside(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "outside.jpg").touch()
    (folder / "inside.jpg").touch()
    (folder / "near.jpg").symlink_to("inside.jpg")
    (folder / "far.jpg").symlink_to("../outside.jpg")
    (folder / "up").symlink_to("..")
    (folder / "loop.jpg").symlink_to("loop.jpg")
    assert inside(folder, "near.jpg") == folder / "near.jpg"
    for name in ("far.jpg", "up/outside.jpg"):
        with pytest.raises(InvalidInput, match="is a link that leaves"):
            inside(folder, name)
    with pytest.raises(InvalidInput, match="cannot be followed"):
        inside(folder, "loop.jpg")


def test_a_folder_that_is_itself_a_link_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to("real")
    assert inside(tmp_path / "alias", "a.jpg") == tmp_path / "alias" / "a.jpg"


def test_json_is_told_with_its_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": 1,\n "b": }')
    with pytest.raises(BadCorpus, match=r"a\.json is not valid JSON at line 2, column 7: Expecting value"):
        read_json(path)
    with pytest.raises(BadCorpus, match="line 11, column 7"):
        parse_json(path.read_text(), where="x", first_line=10)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "line 1, column 1"),
        (b"\xff\xfe{", "not UTF-8 text"),
        (b"[" * 100_000, "is not valid JSON"),
        (b"9" * 5_000, "is not valid JSON"),
    ],
)
def test_what_is_no_json_is_told(tmp_path: Path, data: bytes, sentence: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)
    with pytest.raises(BadCorpus, match=sentence):
        read_json(path)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf[1]")
    assert read_json(path) == [1]
    with pytest.raises(BadCorpus, match="cannot be read"):
        read_json(tmp_path / "absent.json")


@pytest.mark.parametrize(("value", "number"), [(1, 1), ("12", 12), (" 3 ", 3)])
def test_a_count_is_a_number_or_its_text(value: object, number: int) -> None:
    assert whole_number(value, name="limit") == number


@pytest.mark.parametrize("value", [0, -1, "0", "many", "1.5", 1.5, True, None, "1e3"])
def test_what_does_not_count_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="limit must be a whole number of at least 1, got"):
        whole_number(value, name="limit")


@given(*[st.floats(-200, 200)] * 2, *[st.floats(1, 300)] * 2)
def test_a_read_box_is_the_part_inside_its_image(x: float, y: float, width: float, height: float) -> None:
    def read() -> tuple[Box, float]:
        return read_box([x, y, width, height], what="the box", width=100, height=80)

    if Box(x, y, width, height).inside(100, 80) is None:
        with pytest.raises(LeftOut, match=r"the box is .*, outside its 100 × 80 px"):
            read()
        return
    if max(x + width, y + height) <= 1:  # the whole picture in shares, as likely as a pixel
        with pytest.raises(LeftOut, match="no larger than a pixel"):
            read()
        return
    box, overhang = read()
    assert box.intersection(Box(0, 0, 100, 80)) == pytest.approx(box.area)
    assert overhang == pytest.approx(max(-x, -y, x + width - 100, y + height - 80))
    assert (box == Box(x, y, width, height)) == (overhang <= 0)


@pytest.mark.parametrize(
    "values",
    [
        None,
        5,
        "1234",
        [],
        [1, 2, 3],
        [1, 2, 3, 4, 5],
        ["a", 1, 1, 1],
        [0, 0, 0, 5],
        [0, 0, float("nan"), 1],
        [0, 0, 10**400, 1],
        {"x": 1},
    ],
)
def test_what_is_no_box_is_left_out(values: object) -> None:
    with pytest.raises(LeftOut, match="four numbers x, y, width, height") as caught:
        read_box(values, what="the box", width=100, height=80)
    assert caught.value.code == "annotation-bad-box"


def test_a_box_may_be_text_as_in_a_csv() -> None:
    assert read_box(["1", "2.5", "3", "4"], what="the box", width=100, height=80) == (Box(1, 2.5, 3, 4), -1.0)


def test_a_file_of_more_than_a_gigabyte_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(1_000_000_001)  # a hole: it takes no room
    with pytest.raises(BadCorpus, match=r"large\.json holds 1,000 MB, and at most 1,000 MB are read at once; cut it"):
        read_json(path)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
@pytest.mark.parametrize("reader", ["corpus_files.read_json", "caption_tables.read_references"])
def test_a_file_that_does_not_fit_into_memory_ends_with_a_sentence(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "wide.json"
    path.write_text("{" + ",".join(f'"{number}": "a caption"' for number in range(1_500_000)) + "}", encoding="utf-8")
    module, name = reader.split(".")
    script = (
        f"import resource\nfrom pathlib import Path\nfrom core.corpora.{module} import {name} as read\n"
        "from core.errors import BadCorpus\n"
        "taken = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (taken + (120 << 20),) * 2)\n"
        f"try:\n    read(Path({str(path)!r}))\nexcept BadCorpus as error:\n    print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert said.stdout.strip() == f"{path} does not fit into this machine's memory; cut it into parts, or free memory"


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
    with pytest.raises(BadCorpus, match=f"40,000 columns by its first line, and at most {MOST_COLUMNS:,}"):
        check_columns(between.join("c" for _ in range(40_000)) + "\n1", where="x")
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
