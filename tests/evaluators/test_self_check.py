"""An evaluator is held to its publisher's example: fetched from a server, scored, kept, told in every manifest."""

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

from core.audit.record import describe_evaluator
from core.commands._shared import Code
from core.commands.doctor import PUBLISHED, Status, examine
from core.corpora.images import read_image
from core.evaluators import self_check as checks
from core.evaluators.metrics.clipscore import PacS, RefPacS
from core.evaluators.registry import find
from core.evaluators.self_check import KEPT, TOLERANCE, Example, PublishedValue, for_manifest, remembered, self_check
from core.evaluators.weights.fetched import keep
from tests.commands.calling import Invoke
from tests.commands.conftest import invoke  # noqa: F401
from tests.tiny import clip

GOOD, BAD, PEOPLE = "ex/good.json", "ex/bad.json", "ex/refs.json"
CAPTIONS = {GOOD: {"a": "a dog", "b": "a cat"}, BAD: {"a": "a cat", "b": "two dogs"}}
REFERENCES = {"a": ["one dog", "a dog runs"], "b": ["the cat"]}


def picture(seed: int) -> bytes:
    buffer = BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 255, (40, 50, 3), dtype=np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


FILES = {
    "ex/a.png": picture(1),
    "ex/b.png": picture(2),
    PEOPLE: json.dumps(REFERENCES).encode(),
    **{name: json.dumps(held).encode() for name, held in CAPTIONS.items()},
}


class Publisher(BaseHTTPRequestHandler):
    """Serves the files of the example below owner/name/commit."""

    def do_GET(self) -> None:
        body = FILES.get(self.path.split("/", 4)[-1])
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Publisher) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clip.write_pac(tmp_path_factory.mktemp("pac") / "clip_ViT-B-32.pth")


@pytest.fixture(autouse=True)
def own_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: Path) -> Path:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    keep("pac-s-vit-b-32", checkpoint)
    return tmp_path / "weights"


@pytest.fixture
def value(tmp_path: Path) -> dict[tuple[str, str], float]:
    """What the tiny evaluators give, worked out from their embeddings."""
    loaded = PacS.load()
    for name in ("a", "b"):
        (tmp_path / f"{name}.png").write_bytes(FILES[f"ex/{name}.png"])
    seen = loaded.encode_images([read_image(tmp_path / f"{name}.png").pixels for name in ("a", "b")]).numpy()
    found = {}
    for captions, held in CAPTIONS.items():
        own, likeness = [], []
        for row, name in enumerate(("a", "b")):
            said, *people = loaded.encode_captions([held[name], *REFERENCES[name]]).numpy()
            own.append(2 * max(float(seen[row] @ said), 0))
            likeness.append(max(*(float(said @ each) for each in people), 0.0))
        found["pac-s", captions] = float(np.mean(own))
        found["refpac-s", captions] = float(
            np.mean([2 * a * b / (a + b) if a + b else 0.0 for a, b in zip(own, likeness, strict=True)])
        )
    return found


def made(value: dict[tuple[str, str], float], *, off: float = 0.0, commit: str = "a" * 40) -> Example:
    return Example(
        id="tiny",
        title="tiny",
        repository="owner/name",
        commit=commit,
        references=PEOPLE,
        images={"a": "ex/a.png", "b": "ex/b.png"},
        files={name: hashlib.sha256(body).hexdigest() for name, body in FILES.items()},
        published=tuple(PublishedValue(evaluator=e, captions=c, value=v + off) for (e, c), v in value.items()),
    )


def publish(monkeypatch: pytest.MonkeyPatch, known: Example, host: str = "http://127.0.0.1:9") -> None:
    monkeypatch.setattr(checks, "examples", lambda: (known,))
    monkeypatch.setattr(checks, "HOST", host)


def test_the_values_that_were_printed_are_given_again_and_kept(
    monkeypatch: pytest.MonkeyPatch, server: str, value: dict[tuple[str, str], float], own_weights: Path
) -> None:
    publish(monkeypatch, made(value, off=0.9 * TOLERANCE), server)
    for kind in (PacS, RefPacS):
        loaded = kind.load()
        found = self_check(loaded)
        assert found is not None
        assert found.outcome == "passed"
        assert [each.here for each in found.readings] == pytest.approx(
            [value[kind.spec.name, GOOD], value[kind.spec.name, BAD]], abs=1e-5
        )
        assert remembered()[kind.spec.name] == found
        told = describe_evaluator(kind.spec.name, loaded)["published_example"]
        assert (told["outcome"], told["tolerance"], len(told["readings"])) == ("passed", TOLERANCE, 2)
    # what was fetched serves without a network
    publish(monkeypatch, made(value))
    assert self_check(PacS.load()).outcome == "passed"  # type: ignore[union-attr]
    assert (own_weights / "examples" / "tiny" / "ex" / "a.png").read_bytes() == FILES["ex/a.png"]


def test_other_values_fail_and_the_manifest_says_so(
    monkeypatch: pytest.MonkeyPatch, server: str, value: dict[tuple[str, str], float]
) -> None:
    publish(monkeypatch, made(value, off=1.2 * TOLERANCE), server)
    loaded = PacS.load()
    found = self_check(loaded)
    assert found is not None
    assert found.outcome == "failed"
    assert "differs by more than 0.003" in found.told
    assert for_manifest(loaded)["outcome"] == "failed"  # type: ignore[index]


def test_without_a_network_nothing_passes_and_an_earlier_result_stays(
    monkeypatch: pytest.MonkeyPatch, server: str, value: dict[tuple[str, str], float], own_weights: Path
) -> None:
    publish(monkeypatch, made(value))
    loaded = PacS.load()
    found = self_check(loaded)
    assert found is not None
    assert found.outcome == "not checked"
    assert "cannot be fetched" in found.told
    assert for_manifest(loaded)["outcome"] == "not checked"  # type: ignore[index]
    publish(monkeypatch, made(value), server)
    self_check(loaded)
    (own_weights / "examples" / "tiny" / "ex" / "a.png").write_bytes(b"damaged")
    publish(monkeypatch, made(value))
    assert self_check(loaded).outcome == "not checked"  # type: ignore[union-attr]
    assert remembered()["pac-s"].outcome == "passed"


def test_bytes_other_than_the_pinned_ones_are_not_scored(
    monkeypatch: pytest.MonkeyPatch, server: str, value: dict[tuple[str, str], float], own_weights: Path
) -> None:
    known = made(value)
    publish(monkeypatch, known.model_copy(update={"files": {**known.files, "ex/a.png": "0" * 64}}), server)
    found = self_check(PacS.load())
    assert found is not None
    assert found.outcome == "not checked"
    assert "it was not kept" in found.reason
    assert not (own_weights / "examples" / "tiny" / "ex" / "a.png").exists()


def test_a_result_counts_for_its_fingerprint_alone(
    monkeypatch: pytest.MonkeyPatch, server: str, value: dict[tuple[str, str], float], own_weights: Path
) -> None:
    publish(monkeypatch, made(value), server)
    loaded = PacS.load()
    self_check(loaded)
    path = own_weights / KEPT
    path.write_text(path.read_text().replace(loaded.fingerprint.key, "0" * 16))
    assert for_manifest(loaded)["outcome"] == "not checked"  # type: ignore[index]
    path.write_text("[")
    assert for_manifest(loaded)["outcome"] == "not checked"  # type: ignore[index]


def test_an_evaluator_without_an_example_has_no_such_line() -> None:
    loaded = find("blind-length").load()
    assert self_check(loaded) is None
    assert "published_example" not in describe_evaluator("blind-length", loaded)


@pytest.mark.parametrize(("off", "code", "status"), [(0.0, Code.OK, Status.OK), (0.1, Code.FAILURES, Status.FAIL)])
def test_getting_weights_ends_with_the_check_and_the_doctor_repeats_it(
    invoke: Invoke,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    server: str,
    value: dict[tuple[str, str], float],
    off: float,
    code: Code,
    status: Status,
    checkpoint: Path,
) -> None:
    publish(monkeypatch, made(value, off=off), server)
    done = invoke("evaluators", "get", "pac-s", "--weights", checkpoint)
    assert done.exit_code == code, done.output
    said = done.stdout if off == 0 else done.stderr
    assert f"(published {value['pac-s', GOOD] + off:.4f})" in said
    findings = examine([PUBLISHED])
    assert [each.status for each in findings] == [status, status]
    assert [each.detail.split()[0] for each in findings] == ["pac-s", "refpac-s"]
    assert PUBLISHED not in {each.name for each in examine(["folders"])}


def test_getting_weights_without_a_network_says_that_nothing_was_checked(
    invoke: Invoke,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    value: dict[tuple[str, str], float],
    checkpoint: Path,
) -> None:
    publish(monkeypatch, made(value))
    done = invoke("evaluators", "get", "pac-s", "--weights", checkpoint)
    assert done.exit_code == Code.OK
    assert "pac-s was not checked against its publisher's example" in done.stderr
    assert "agrees" not in done.stdout
    doctor = invoke("doctor", "--only", "folders", "--published")
    assert doctor.exit_code == Code.OK
    assert "was not checked" in " ".join(doctor.stdout.split())


def test_the_printed_values_are_those_of_the_publishers_readmes() -> None:
    """jmhessel/clipscore and aimagelab/pacscore, README.md."""
    printed = {
        (each.evaluator, Path(each.captions).stem): each.value
        for known in checks.examples()
        for each in known.published
    }
    assert printed == {
        ("clipscore", "good_captions"): 0.8584,
        ("clipscore", "bad_captions"): 0.7153,
        ("refclipscore", "good_captions"): 0.8450,
        ("refclipscore", "bad_captions"): 0.7253,
        ("pac-s", "good_captions"): 0.8264,
        ("pac-s", "bad_captions"): 0.5772,
        ("refpac-s", "good_captions"): 0.8393,
        ("refpac-s", "bad_captions"): 0.6357,
    }
    assert {find(name).spec.name for name, _ in printed} == {"clipscore", "refclipscore", "pac-s", "refpac-s"}


def test_an_example_names_the_hash_of_every_file(value: dict[tuple[str, str], float]) -> None:
    with pytest.raises(ValidationError, match="files must name what is read"):
        Example(**{**made(value).model_dump(), "files": {}})
    with pytest.raises(ValidationError):
        Example(**{**made(value).model_dump(), "images": {"a": "../a.png"}})
