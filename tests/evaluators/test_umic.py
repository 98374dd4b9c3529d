"""UMIC on a tiny checkpoint in the publisher's format, against the formula written out here."""

import json
import math
from pathlib import Path

import msgpack
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from core import registry
from core.corpora.images import pixel_hash
from core.errors import InvalidInput, NotAvailable
from core.evaluators.metrics.umic import DETECTOR, REGIONS, drawn
from core.evaluators.regions.region_folder import RegionFolder, Regions
from core.evaluators.registry import find
from core.evaluators.scoring import score_pairs_with_errors
from core.probes.rejections import code_of
from tests.tiny.uniter import LAYERS, WIDTH, WORDS, made_regions, write_lmdb, write_npz, write_umic, write_words

CAPTIONS = ["A cat.", "dogs", "a unknown bed. " * 40, "A cat . A dogs"]
DETECTOR_CODE = """
import numpy as np
from core.evaluators.regions.region_folder import Regions


class Corners:
    digest = "corners-1"

    @classmethod
    def load(cls, device):
        return cls()

    def regions(self, image):
        features = np.resize(image.astype(np.float32).ravel() / 255, (12, 16))
        return Regions(features, np.full((12, 6), 0.25, np.float32), np.full(12, 0.5, np.float32))
"""


def picture(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (20 + seed, 30, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, torch.Tensor]]:
    folder = tmp_path_factory.mktemp("umic")
    write_words(folder / "vocab.txt")
    return folder, write_umic(folder / "umic.pt")


@pytest.fixture
def regions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Regions of three pictures by the hash of their pixels; the third has few that are sure."""
    folder = tmp_path / "regions"
    folder.mkdir()
    for seed, (count, sure) in enumerate([(120, 110), (36, 20), (30, 3)]):
        write_npz(folder / f"{pixel_hash(picture(seed))}.npz", made_regions(seed, count, sure))
    monkeypatch.setenv(REGIONS, str(folder))
    return folder


def umic(tiny: tuple[Path, dict[str, torch.Tensor]]):
    return find(f"umic@{tiny[0]}").load()


def pieces(caption: str) -> list[int]:
    found: list[str] = []
    for word in caption.replace(".", " . ").split():
        found += {"dogs": ["dog", "##s"], "unknown": ["un", "##known"]}.get(word, [word])
    return [WORDS.index(piece) for piece in found]


def reference(state: dict[str, torch.Tensor], arrays: dict[str, np.ndarray], caption: str, kept: int) -> float:
    """Sigmoid of UNITER's rank head, one pair at a time, nothing padded."""

    def linear(name: str, value: torch.Tensor) -> torch.Tensor:
        return value @ state[f"{name}.weight"].T + state[f"{name}.bias"]

    def norm(name: str, value: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(value, (WIDTH,), state[f"{name}.weight"], state[f"{name}.bias"], eps=1e-12)

    ids = [2, *pieces(caption)[:60], 3]
    text, image = "uniter.embeddings", "uniter.img_embeddings"
    kinds = state[f"{text}.token_type_embeddings.weight"]
    words = state[f"{text}.word_embeddings.weight"][ids] + state[f"{text}.position_embeddings.weight"][: len(ids)]
    features = torch.tensor(arrays["features"][:kept].astype(np.float32))
    boxes = torch.tensor(arrays["norm_bb"][:kept].astype(np.float32))
    places = torch.cat([boxes, boxes[:, 4:5] * boxes[:, 5:6]], dim=1)
    seen = norm(f"{image}.img_layer_norm", linear(f"{image}.img_linear", features))
    seen = seen + norm(f"{image}.pos_layer_norm", linear(f"{image}.pos_linear", places)) + kinds[1]
    hidden = torch.cat([norm(f"{text}.LayerNorm", words + kinds[0]), norm(f"{image}.LayerNorm", seen)])
    heads = WIDTH // 64
    for layer in range(LAYERS):
        stem = f"uniter.encoder.layer.{layer}"
        query, key, value = (
            linear(f"{stem}.attention.self.{name}", hidden).view(len(hidden), heads, 64).transpose(0, 1)
            for name in ("query", "key", "value")
        )
        mixed = (query @ key.transpose(1, 2) / math.sqrt(64)).softmax(dim=-1) @ value
        mixed = linear(f"{stem}.attention.output.dense", mixed.transpose(0, 1).reshape(len(hidden), WIDTH))
        hidden = norm(f"{stem}.attention.output.LayerNorm", mixed + hidden)
        inner = linear(f"{stem}.intermediate.dense", hidden)
        inner = 0.5 * inner * (1 + torch.erf(inner / math.sqrt(2)))
        hidden = norm(f"{stem}.output.LayerNorm", linear(f"{stem}.output.dense", inner) + hidden)
    pooled = torch.tanh(linear("uniter.pooler.dense", hidden[:1]))
    return float(torch.sigmoid(linear("rank_output", pooled)))


@pytest.mark.parametrize("batch", [1, 64])
def test_scores_are_those_of_the_formula_in_any_batch_and_order(tiny, regions: Path, batch: int) -> None:
    evaluator = umic(tiny)
    evaluator._runner.batch = batch
    kept = {0: 100, 1: 20, 2: 10}
    pairs = [(seed, caption) for caption in CAPTIONS for seed in kept]
    images = {seed: picture(seed) for seed in kept}
    found = evaluator.score([images[seed] for seed, _ in pairs], [caption for _, caption in pairs])
    shapes = {0: (120, 110), 1: (36, 20), 2: (30, 3)}
    expected = [reference(tiny[1], made_regions(seed, *shapes[seed]), caption, kept[seed]) for seed, caption in pairs]
    assert found == pytest.approx(expected, abs=1e-5)
    assert np.ptp(found) > 0.01
    backwards = evaluator.score([images[seed] for seed, _ in pairs[::-1]], [caption for _, caption in pairs[::-1]])
    assert backwards[::-1] == pytest.approx(found, abs=1e-6)


def test_the_older_names_of_layer_norms_load_the_same_network(tiny, regions: Path, tmp_path: Path) -> None:
    write_words(tmp_path / "vocab.txt")
    write_umic(tmp_path / "umic.pt", old_names=True)
    old = find(f"umic@{tmp_path}").load()
    assert old.score([picture(1)], ["A cat."]) == pytest.approx(umic(tiny).score([picture(1)], ["A cat."]), abs=1e-6)


def test_a_long_caption_is_counted_and_cut_at_sixty_word_pieces(tiny, regions: Path) -> None:
    evaluator = umic(tiny)
    assert evaluator.count_tokens(CAPTIONS[2]) == len(pieces(CAPTIONS[2])) == 200
    assert evaluator.truncates(CAPTIONS[2])
    assert not evaluator.truncates("A cat.")
    assert evaluator.see(picture(0), CAPTIONS[2]).truncated


def test_an_edited_picture_has_no_regions_and_says_so_beside_a_null(tiny, regions: Path) -> None:
    images = {pixel_hash(each): each for each in (picture(0), picture(0)[::-1].copy())}
    known, edited = images
    pairs = [(known, "A cat."), (edited, "A cat."), (known, " ")]
    found = score_pairs_with_errors(umic(tiny), images, pairs)
    assert np.isfinite(found.scores[0])
    assert np.isnan(found.scores[1:]).all()
    assert "precomputed only" in (found.errors[1] or "")
    assert "no word" in (found.errors[2] or "")
    assert [code_of(each) for each in found.errors[1:]] == ["no-regions", "no-word"]


def test_a_detector_of_the_users_own_finds_regions_of_any_picture(
    tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "detector.py"
    code.write_text(DETECTOR_CODE, encoding="utf-8")
    monkeypatch.setenv(REGIONS, str(tmp_path / "none"))
    monkeypatch.setenv(DETECTOR, f"{code}:Corners")
    evaluator = umic(tiny)
    assert type(evaluator).availability().ready
    assert np.isfinite(evaluator.score([picture(0), picture(0)[::-1].copy()], ["A cat."] * 2)).all()
    assert evaluator.fingerprint.settings["detector"] == "corners-1"


def test_a_server_does_not_run_the_users_detector_in_itself(
    tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, ran = tmp_path / "detector.py", tmp_path / "ran"
    code.write_text(f"open({str(ran)!r}, 'w').close()\n{DETECTOR_CODE}", encoding="utf-8")
    monkeypatch.setenv(REGIONS, str(tmp_path / "none"))
    monkeypatch.setenv(DETECTOR, f"{code}:Corners")
    monkeypatch.setattr(registry, "_apart", True)
    with pytest.raises(NotAvailable, match="which this server does not run in itself; audit with it"):
        umic(tiny)
    assert not ran.exists()
    monkeypatch.setattr(registry, "_apart", False)
    assert umic(tiny).fingerprint.settings["detector"] == "corners-1"
    assert ran.exists()


def test_without_regions_or_a_detector_it_is_precomputed_only(
    tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(REGIONS, str(tmp_path / "none"))
    monkeypatch.delenv(DETECTOR, raising=False)
    found = find(f"umic@{tiny[0]}").availability()
    assert not found.ready
    assert "precomputed only" in found.reason
    assert found.command == "python -m core evaluators get umic"


def test_a_mark_counts_as_one_where_it_is_a_whole_word_as_in_the_authors_code(tiny, regions: Path) -> None:
    words = umic(tiny)._words
    found = {
        text: [words.id_to_token(each) for each in umic(tiny)._pieces(text)] for text in ("a [MASK] bed", "[MASK].")
    }
    assert found["a [MASK] bed"] == ["a", "[MASK]", "bed"]
    assert found["[MASK]."] == ["[UNK]", "[UNK]", "[UNK]", "."]  # "[", "MASK" and "]" by themselves


def test_two_evaluators_read_the_same_lmdb_at_once(tmp_path: Path) -> None:
    write_lmdb(tmp_path, {"a.npz": made_regions(0, 12, 12)}, compressed=False)
    first, second = RegionFolder(tmp_path), RegionFolder(tmp_path)
    assert first.names() == second.names() == ("a.npz",)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("folder_of", ["", "val2014/"])
def test_regions_in_the_authors_lmdb_are_found_through_the_index(
    tmp_path: Path, compressed: bool, folder_of: str
) -> None:
    name = f"{folder_of}coco_val2014_000000060623.npz"
    arrays = made_regions(5, 40, 30)
    write_lmdb(tmp_path, {name: arrays}, compressed=compressed)
    (tmp_path / "index.json").write_text(json.dumps({"ab" * 32: name}))
    folder = RegionFolder(tmp_path)
    found = folder.find("ab" * 32)
    assert found is not None
    assert found.features.tolist() == arrays["features"].astype(np.float32).tolist()
    assert found.boxes.tolist() == arrays["norm_bb"].astype(np.float32).tolist()
    assert name in folder.names()
    assert folder.find("cd" * 32) is None


@settings(max_examples=50, deadline=None)
@given(confidence=st.lists(st.floats(0, 1, width=32), min_size=1, max_size=150))
def test_between_ten_and_a_hundred_regions_enter_the_surest_first(confidence: list[float]) -> None:
    sure = np.sort(np.array(confidence, dtype=np.float32))[::-1]
    count = len(sure)
    regions = Regions(np.arange(count, dtype=np.float32)[:, None], np.zeros((count, 6), np.float32), sure)
    kept = regions.kept(confidence=0.2, least=10, most=100)
    wanted = min(max((sure > 0.2).sum(), 10), 100, count)
    assert kept.features[:, 0].tolist() == list(range(wanted))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not a zip", "no npz of plain arrays"),
        (None, "no array 'norm_bb'"),
    ],
)
def test_a_damaged_entry_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / f"{'ab' * 32}.npz"
    if content is None:
        np.savez(path, features=np.ones((3, 4)))
    else:
        path.write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        RegionFolder(tmp_path).find("ab" * 32)


def test_pickled_objects_are_refused_and_never_run(tmp_path: Path) -> None:
    np.savez(tmp_path / f"{'ab' * 32}.npz", features=np.array([{"a": 1}], dtype=object), norm_bb=np.ones((1, 6)))
    with pytest.raises(InvalidInput, match="no npz of plain arrays"):
        RegionFolder(tmp_path).find("ab" * 32)
    import lmdb

    harm = {b"nd": True, b"type": "|O", b"kind": b"O", b"shape": (1,), b"data": b"\x80\x04N."}
    with lmdb.open(str(tmp_path / "all"), map_size=1 << 20) as database, database.begin(write=True) as writing:
        writing.put(b"x.npz", msgpack.packb({"features": harm}))
    (tmp_path / "index.json").write_text(json.dumps({"cd" * 32: "x.npz"}))
    with pytest.raises(InvalidInput, match="not numbers"):
        RegionFolder(tmp_path).find("cd" * 32)


def test_another_network_or_a_cut_file_is_refused_in_a_sentence(tiny, regions: Path, tmp_path: Path) -> None:
    write_words(tmp_path / "vocab.txt")
    torch.save({"visual.proj": torch.ones(2, 2)}, tmp_path / "umic.pt")
    with pytest.raises(NotAvailable, match="holds no UMIC"):
        find(f"umic@{tmp_path}").load()
    (tmp_path / "umic.pt").write_bytes((tiny[0] / "umic.pt").read_bytes()[:5000])
    with pytest.raises(NotAvailable, match=r"umic\.pt"):
        find(f"umic@{tmp_path}").load()


def test_regions_are_drawn_on_a_copy() -> None:
    image = np.zeros((50, 80, 3), np.uint8)
    regions = Regions(np.ones((1, 2), np.float32), np.array([[0.1, 0.2, 0.5, 0.9, 0.4, 0.7]], np.float32), np.ones(1))
    assert drawn(image, regions)[10, 8:40].any()
    assert not image.any()
