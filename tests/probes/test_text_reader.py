"""Text that a photograph holds already: what counts, who is asked, and what is said where no reader is here."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from core.audit.record import DECIDES
from core.corpora.registry import catalogue as corpora
from core.corpora.schema import Box, Corpus, Item
from core.errors import InvalidInput, NotAvailable, ProbeRejected
from core.jobs.request import audit_request
from core.probes.pixels import text_reader
from core.probes.pixels.text_reader import (
    CONFIDENCE,
    HELD,
    HOLDS,
    HOLDS_NONE,
    LEAST_SIGNS,
    LONGEST,
    MODELS,
    NARROWEST,
    PINNED,
    SAID,
    Line,
    TextReader,
    describe,
    lacking,
    legible,
)
from core.probes.registry import catalogue
from core.probes.scene import Scene
from core.seeds import stream
from core.settings import ROOT
from tests.plans import make_plan
from tests.probes.painted import SUBJECT

needs_reader = pytest.mark.skipif(bool(lacking()), reason=lacking() or "the reader is here")
KINDS = ("right", "wrong", "neutral")


def item(*, read: bool = True) -> Item:
    return Item(
        "one",
        "test",
        None,
        400,
        240,
        captions={"en": ("A dog.",)},
        label="dog",
        category="animal",
        box=Box(20, 20, 60, 60),
        read_text=read,
    )


def picture(text: str = "") -> np.ndarray:
    image = Image.new("RGB", (400, 240), "white")
    ImageDraw.Draw(image).text((90, 90), text, fill="black", font_size=44)
    return np.asarray(image)


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(text_reader, "PINNED", {"no-such-package-as-this": "1"})
    text_reader.text_reader.cache_clear()
    yield
    text_reader.text_reader.cache_clear()


@given(st.lists(st.builds(Line, st.text(max_size=8), st.floats(0, 1)), max_size=6))
def test_a_line_counts_by_its_confidence_and_its_letters_and_digits(lines: list[Line]) -> None:
    kept = legible(lines)
    assert all(line in kept for line in lines if line.confidence > 0.9 and re.fullmatch(r"[A-Za-z0-9]{2,}", line.text))
    assert not any(line.confidence < 0.8 or not re.search(r"\w\W*\w", line.text.replace("_", "")) for line in kept)
    assert [line for line in lines if line in kept] == list(kept)


def test_the_thresholds_lie_inside() -> None:
    assert legible([Line("STOP", CONFIDENCE), Line("42", 1.0)])
    assert not legible([Line("STOP", CONFIDENCE - 1e-6), Line("O", 1.0), Line("↑ !!", 1.0)])
    assert LEAST_SIGNS == 2


@settings(deadline=None)
@given(st.integers(1, 2600), st.integers(1, 2600))
def test_what_is_read_is_bounded_and_no_narrow_strip(height: int, width: int) -> None:
    pixels = np.broadcast_to(np.uint8(200), (height, width, 3))
    framed = text_reader._framed(pixels)
    assert max(framed.shape[:2]) <= LONGEST
    assert NARROWEST * min(framed.shape[:2]) >= max(framed.shape[:2])
    assert framed.dtype == np.uint8
    if max(height, width) <= LONGEST:
        assert (framed[:height, :width] == pixels).all()


@needs_reader
def test_letters_are_found_and_a_plain_picture_has_none() -> None:
    reader = TextReader()
    assert reader.facts(picture("STOP HERE")) == {HELD: HOLDS, SAID: "STOP HERE"}
    assert reader.facts(picture()) == {HELD: HOLDS_NONE}
    noise = stream(1).integers(0, 255, (9, 300, 3), dtype=np.uint8)
    assert reader.facts(noise) == {HELD: HOLDS_NONE}


@needs_reader
def test_every_word_written_in_says_what_the_photograph_held_before() -> None:
    for text, held in (("STOP HERE", HOLDS), ("", HOLDS_NONE)):
        made = [
            catalogue().get(f"typographic:{kind}").make(Scene(item(), picture(text)), SUBJECT, stream(1))
            for kind in KINDS
        ]
        assert {each.facts[HELD] for each in made} == {held}


def test_nothing_is_read_where_nobody_asked(without: None) -> None:
    for kind in KINDS:
        made = catalogue().get(f"typographic:{kind}").make(Scene(item(read=False), picture("STOP")), SUBJECT, stream(1))
        assert set(made.facts) == {"word", "plate"}


def test_a_reader_that_is_not_here_is_told_with_its_extra(without: None) -> None:
    with pytest.raises(NotAvailable, match=r"invariscope\[reader\].*requirements-reader\.txt"):
        TextReader()
    with pytest.raises(ProbeRejected, match="requirements-reader") as caught:
        catalogue().get("typographic:neutral").make(Scene(item(), picture()), SUBJECT, stream(1))
    assert caught.value.code == "no-reader"


def test_another_version_and_another_model_are_no_stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"another")
    with pytest.raises(NotAvailable, match=r"model\.onnx of the package rapidocr has the digest .* and not 000"):
        text_reader._checked(tmp_path / "model.onnx", "0" * 64)
    with pytest.raises(NotAvailable, match="is not there"):
        text_reader._checked(tmp_path / "absent.onnx", "0" * 64)
    monkeypatch.setattr(text_reader, "PINNED", {"pytest": "0.0.1"})
    assert "is read by pytest 0.0.1" in lacking()


def test_an_audit_that_is_to_read_is_refused_without_a_reader(without: None) -> None:
    corpus = Corpus("test", (item(),))
    with pytest.raises(NotAvailable, match=r"requirements-reader\.txt; or leave"):
        make_plan(corpus, evaluators=["blind-length"], probes=["typographic"])
    asked = {"corpus": "demo", "options": {"text": "read"}, "evaluators": ("blind-length",)}
    with pytest.raises(NotAvailable, match=r"invariscope\[reader\]"):
        audit_request(**asked, probes=("typographic",)).check()
    audit_request(**asked, probes=("vflip",)).check()
    plan = make_plan(corpus, evaluators=["blind-length"], probes=["vflip"])
    assert plan.readers == {}
    assert any("nothing is read" in said for said in plan.warnings)


def test_a_plan_that_reads_nothing_keeps_its_fingerprint_and_one_that_reads_has_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text_reader, "lacking", lambda: "")
    read, plain = (
        make_plan(Corpus("test", (item(read=read),)), evaluators=["blind-length"], probes=["typographic", "vflip"])
        for read in (True, False)
    )
    assert (plain.readers, plain.warnings) == ({}, ())
    assert read.readers == {"reader": describe()}
    assert read.fingerprint() != plain.fingerprint()
    assert "reader" in DECIDES
    other = replace(read, probes=tuple(probe for probe in read.probes if probe.family != "typographic"))
    still = replace(plain, probes=other.probes)
    assert other.fingerprint() == still.fingerprint()


def test_a_corpus_that_is_not_to_be_read_is_the_corpus_of_before() -> None:
    loader = corpora().get("demo")
    whole = loader.load()
    assert loader.load(text="none").items == whole.items
    assert not any(each.read_text for each in whole.items)
    assert whole.origin is not None
    assert whole.origin.options == {}
    read = loader.load(text="read")
    assert [replace(each, read_text=False) for each in read.items] == list(whole.items)
    assert all(each.read_text for each in read.items)
    with pytest.raises(InvalidInput, match="text must be none or read, got 'yes'"):
        loader.load(text="yes")


def test_the_extra_pins_what_the_code_reads_and_every_file_has_a_hash() -> None:
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["reader"]
    assert dict(each.split("==") for each in extra) == dict(PINNED)
    hashed, lock = ((ROOT / f"requirements-{name}.txt").read_text() for name in ("reader", "lock"))
    pins = dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", hashed, flags=re.M))
    assert pins.items() >= PINNED.items()
    assert not pins.keys() & set(re.findall(r"^([A-Za-z0-9._-]+)==", lock, flags=re.M)), "one pin a package"
    entries = re.split(r"^(?=[a-z])", re.sub(r"^#.*\n", "", hashed, flags=re.M), flags=re.M)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in hashed
    assert all(len(known) == 64 for _, known in MODELS.values())
