"""Fetching weights, against a real server that sometimes misbehaves."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from core.errors import InvalidInput, NotAvailable, StoreError
from core.evaluators.weights.catalogue import WeightFile, Weights
from core.evaluators.weights.download import download, fetch

BODY = bytes(range(256)) * 4096
SHA = hashlib.sha256(BODY).hexdigest()


class Publisher(BaseHTTPRequestHandler):
    """Serves one file whole or from a byte on, a page, a cut file, a redirect elsewhere, or nothing."""

    asked: list[tuple[str, str | None]] = []  # noqa: RUF012

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.asked.append((self.path, wanted))
        match self.path:
            case "/moved":
                self._answer(302, b"", Location="file:///etc/passwd")
            case "/there":
                self._answer(302, b"", Location="/whole.pt")
            case "/page":
                self._answer(200, b"<!doctype html><html>log in</html>")
            case "/cut":
                self.send_response(200)
                self.send_header("Content-Length", str(len(BODY)))
                self.end_headers()
                self.wfile.write(BODY[:1000])
            case "/gone":
                self._answer(404, b"")
            case "/no-range":
                self._answer(200, BODY)
            case _ if wanted:
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
                self._answer(206 if start < len(BODY) else 416, BODY[start:])
            case _:
                self._answer(200, BODY)

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    Publisher.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Publisher) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_a_file_arrives_whole_with_progress(server: str, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    download(f"{server}/whole.pt", tmp_path / "a.pt", sha256=SHA, progress=lambda *each: told.append(each))
    assert (tmp_path / "a.pt").read_bytes() == BODY
    assert told[-1] == (len(BODY), len(BODY))
    assert [path.name for path in tmp_path.iterdir()] == ["a.pt"]


@pytest.mark.parametrize("path", ["whole.pt", "no-range"])
def test_a_download_that_was_cut_off_goes_on(server: str, tmp_path: Path, path: str) -> None:
    (tmp_path / ".a.pt.0123.part").write_bytes(BODY[:70_000])
    download(f"{server}/{path}", tmp_path / "a.pt", sha256=SHA)
    assert (tmp_path / "a.pt").read_bytes() == BODY
    assert Publisher.asked == [(f"/{path}", "bytes=70000-")]


def test_a_part_that_is_already_whole_is_taken(server: str, tmp_path: Path) -> None:
    (tmp_path / ".a.pt.0123.part").write_bytes(BODY)
    download(f"{server}/whole.pt", tmp_path / "a.pt", sha256=SHA)
    assert (tmp_path / "a.pt").read_bytes() == BODY


def test_what_was_cut_off_lies_under_a_name_that_nobody_can_foresee(server: str, tmp_path: Path) -> None:
    names = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with pytest.raises(NotAvailable):
            download(f"{server}/cut", tmp_path / name / "a.pt")
        (part,) = (tmp_path / name).iterdir()
        assert part.read_bytes() == BODY[:1000]
        names.add(part.name)
        download(f"{server}/whole.pt", tmp_path / name / "a.pt", sha256=SHA)
        assert [each.name for each in (tmp_path / name).iterdir()] == ["a.pt"]
    assert len(names) == 2
    assert Publisher.asked.count(("/whole.pt", "bytes=1000-")) == 2


@pytest.mark.parametrize("name", ["a.pt.part", ".a.pt.0123.part"])
@pytest.mark.parametrize("hard", [False, True])
def test_a_part_that_leads_elsewhere_is_not_written(server: str, tmp_path: Path, name: str, hard: bool) -> None:
    foreign, folder = tmp_path / "foreign", tmp_path / "weights"
    foreign.write_bytes(b"mine")
    folder.mkdir()
    link = folder / name
    link.hardlink_to(foreign) if hard else link.symlink_to(foreign)
    download(f"{server}/whole.pt", folder / "a.pt", sha256=SHA)
    assert foreign.read_bytes() == b"mine"
    assert (folder / "a.pt").read_bytes() == BODY
    assert not (folder / "a.pt").is_symlink()


def test_a_redirect_on_the_same_server_is_followed(server: str, tmp_path: Path) -> None:
    download(f"{server}/there", tmp_path / "a.pt", sha256=SHA)
    assert (tmp_path / "a.pt").read_bytes() == BODY


@pytest.mark.parametrize(
    ("path", "match"),
    [
        ("page", "gave a web page, not weights"),
        ("cut", "connection ended after 1,000 of 1,048,576 bytes"),
        ("gone", "cannot be fetched .* fetch it elsewhere and put it at"),
    ],
)
def test_what_is_not_the_file_is_one_sentence(server: str, tmp_path: Path, path: str, match: str) -> None:
    with pytest.raises(NotAvailable, match=match):
        download(f"{server}/{path}", tmp_path / "a.pt")
    assert not (tmp_path / "a.pt").exists()


def test_other_bytes_than_published_are_not_kept(server: str, tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match="published 0000000000000000…; it was not kept"):
        download(f"{server}/whole.pt", tmp_path / "a.pt", sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []


def test_a_file_over_the_limit_is_not_fetched(server: str, tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match=r"has 1,048,576 bytes, more than the 1,000 that are taken"):
        download(f"{server}/whole.pt", tmp_path / "a.pt", most_bytes=1000)


def test_a_disk_without_room_for_it_is_one_sentence_and_the_old_file_stands(server: str, small_disk: Path) -> None:
    (small_disk / "a.pt").write_bytes(b"old")
    (small_disk / "ballast").write_bytes(bytes(600_000))
    with pytest.raises(StoreError, match="bytes free and the file needs 1,048,576; make room first"):
        download(f"{server}/whole.pt", small_disk / "a.pt", sha256=SHA)
    assert (small_disk / "a.pt").read_bytes() == b"old"


def test_weights_take_no_place_of_a_link(server: str, tmp_path: Path) -> None:
    (tmp_path / "a.pt").symlink_to(tmp_path / "elsewhere.pt")
    with pytest.raises(StoreError, match="outputs follow no link"):
        download(f"{server}/whole.pt", tmp_path / "a.pt", sha256=SHA)
    assert (tmp_path / "a.pt").is_symlink()


@pytest.mark.parametrize("url", ["http://example.org/a.pt", "file:///etc/passwd", "ftp://example.org/a"])
def test_only_https_is_fetched(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidInput, match="fetched over https"):
        download(url, tmp_path / "a.pt")


def test_a_redirect_to_another_kind_of_address_is_refused(server: str, tmp_path: Path) -> None:
    with pytest.raises((InvalidInput, NotAvailable)):
        download(f"{server}/moved", tmp_path / "a.pt")
    assert not (tmp_path / "a.pt").exists()


def test_without_a_server_the_sentence_says_what_to_put_where(tmp_path: Path) -> None:
    with pytest.raises(
        NotAvailable, match=r"cannot be fetched \(.*refused.*\); fetch it elsewhere and put it at .*a\.pt"
    ):
        download("http://127.0.0.1:9/a.pt", tmp_path / "a.pt")


def test_a_set_goes_into_its_folder_and_is_not_fetched_twice(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path))
    files = (WeightFile(name="a.pt", sha256=SHA),)
    known = Weights(id="tiny", title="Tiny", kind="https", url="https://example.org/a.pt", licence="MIT", files=files)
    here = known.model_copy(update={"url": f"{server}/whole.pt"})
    assert fetch(here) == tmp_path / "tiny" / "a.pt"
    assert fetch(here).read_bytes() == BODY
    assert len(Publisher.asked) == 1


@pytest.mark.parametrize(("kind", "match"), [("page", "only a person can fetch a.pt"), ("made", "make them with: x")])
def test_what_cannot_be_fetched_says_what_to_do(kind: str, match: str) -> None:
    files = (WeightFile(name="a.pt"),)
    known = Weights.model_validate(
        {
            "id": "t",
            "title": "T",
            "kind": kind,
            "url": "https://example.org",
            "command": "x",
            "licence": "-",
            "files": files,
        }
    )
    with pytest.raises(NotAvailable, match=match):
        fetch(known)


def test_a_hub_out_of_reach_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path))
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    def out_of_reach(*args: object, **options: object) -> str:
        raise LocalEntryNotFoundError("no network")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", out_of_reach)
    known = Weights(
        id="h", title="H", kind="hub", repository="a/b", licence="-", files=(WeightFile(name="x"), WeightFile(name="y"))
    )
    with pytest.raises(NotAvailable, match=r"x of a/b cannot be fetched \(no network\); fetch the files x, y from"):
        fetch(known)
