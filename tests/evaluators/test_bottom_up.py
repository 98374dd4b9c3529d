"""UMIC from pixels: the detector on a tiny checkpoint in the publisher's format, against plain references."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn
from torch.nn import functional

from core.corpora.images import pixel_hash
from core.errors import InvalidInput, NotAvailable
from core.evaluators.base import PartlyScored
from core.evaluators.metrics.umic import DETECTOR, REGIONS
from core.evaluators.regions.faster_rcnn import anchors, confidence, decoded, proposed
from core.evaluators.regions.source import BottomUp, Selection
from core.evaluators.registry import find
from core.evaluators.weights.catalogue import weights
from core.evaluators.weights.fetched import Place
from tests.evaluators.test_umic import DETECTOR_CODE
from tests.tiny.frcnn import BLOCKS, CLASSES, CONFIG, RES2, cells, frcnn_state, write_frcnn
from tests.tiny.uniter import made_regions, write_npz, write_umic, write_words

SMALL = Selection(short_side=96, long_side=160, least_side=4, proposals=40, most=20)
WIDTH = RES2 * 8
MEAN = np.array([102.9801, 115.9465, 122.7717], np.float32)
NAMES = "proposal_generator.anchor_generator.cell_anchors.0"


def picture(seed: int, height: int = 48, width: int = 64) -> np.ndarray:
    rng = np.random.default_rng(seed)
    image = np.kron(rng.integers(0, 256, (-(-height // 8), -(-width // 8), 3)), np.ones((8, 8, 1)))
    return (0.8 * image[:height, :width] + rng.integers(0, 51, (height, width, 3))).astype(np.uint8)


def detector(folder: Path, selection: Selection = SMALL) -> BottomUp:
    return BottomUp.load(Place(weights("bottom-up-attention"), folder, own=True), selection=selection)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, torch.Tensor]]:
    folder = tmp_path_factory.mktemp("detector")
    return folder, write_frcnn(folder)


@pytest.fixture(scope="module")
def loaded(tiny: tuple[Path, dict[str, torch.Tensor]]) -> BottomUp:
    return detector(tiny[0])


@pytest.fixture
def umic_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """UMIC with its detector beside it, as a folder of the user's own."""
    monkeypatch.setenv(REGIONS, str(tmp_path / "none"))
    monkeypatch.delenv(DETECTOR, raising=False)
    folder = tmp_path / "umic"
    folder.mkdir()
    write_words(folder / "vocab.txt")
    write_umic(folder / "umic.pt", region=WIDTH)
    write_frcnn(folder / "bottom-up-attention")
    return folder


# Plain references


def overlap_of(one: np.ndarray, other: np.ndarray) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    shared = max(width, 0) * max(height, 0)
    area = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return float(shared / (area - shared)) if area > shared else 0.0


def suppressed(boxes: np.ndarray, scores: np.ndarray, overlap: float) -> list[int]:
    kept: list[int] = []
    for index in np.argsort(-scores, kind="stable"):
        if all(overlap_of(boxes[index], boxes[other]) <= overlap for other in kept):
            kept.append(int(index))
    return kept


def confidence_of(boxes: np.ndarray, scores: np.ndarray, overlap: float) -> np.ndarray:
    """Bottom-up attention's rule: class by class, the highest score of those that stay."""
    best = np.zeros(len(boxes))
    for column in scores.T:
        kept = suppressed(boxes, column, overlap)
        best[kept] = np.maximum(best[kept], column[kept])
    return best


def layer(state: dict[str, torch.Tensor], name: str, values: torch.Tensor, **options: int) -> torch.Tensor:
    """A convolution and the batch norm behind it, one after the other."""
    found = functional.conv2d(values, state[f"{name}.weight"], **options)
    norm = [state[f"{name}.norm.{part}"] for part in ("running_mean", "running_var", "weight", "bias")]
    return functional.batch_norm(found, *norm, eps=1e-5)


def stage(state: dict[str, torch.Tensor], name: str, values: torch.Tensor, stride: int, dilation: int) -> torch.Tensor:
    for block in range(BLOCKS[name]):
        stem, step = f"{name}.{block}", stride if block == 0 else 1
        inner = layer(state, f"{stem}.conv1", values, stride=step).relu()
        inner = layer(state, f"{stem}.conv2", inner, padding=dilation, dilation=dilation).relu()
        inner = layer(state, f"{stem}.conv3", inner)
        if f"{stem}.shortcut.weight" in state:
            values = layer(state, f"{stem}.shortcut", values, stride=step)
        values = (inner + values).relu()
    return values


def map_of(state: dict[str, torch.Tensor], entering: torch.Tensor) -> torch.Tensor:
    values = layer(state, "backbone.stem.conv1", entering, stride=2, padding=3).relu()
    values = functional.max_pool2d(values, 3, 2, ceil_mode=True)
    for name, stride in (("backbone.res2", 1), ("backbone.res3", 2), ("backbone.res4", 2)):
        values = stage(state, name, values, stride, 1)
    return values


def pooled_of(values: np.ndarray, box: np.ndarray, side: int = 14) -> np.ndarray:
    """The largest value in each of side × side bins of a region, its corners rounded to cells."""
    channels, height, width = values.shape
    left, top, right, bottom = (math.floor(each / 16 + 0.5) for each in box)
    bins = (max(bottom - top + 1, 1) / side, max(right - left + 1, 1) / side)
    found = np.zeros((channels, side, side), np.float32)
    for row in range(side):
        for column in range(side):
            rows = slice(*np.clip([math.floor(row * bins[0]) + top, math.ceil((row + 1) * bins[0]) + top], 0, height))
            columns = slice(
                *np.clip([math.floor(column * bins[1]) + left, math.ceil((column + 1) * bins[1]) + left], 0, width)
            )
            part = values[:, rows, columns]
            if part.size:
                found[:, row, column] = part.max(axis=(1, 2))
    return found


# Boxes


@given(height=st.integers(1, 6), width=st.integers(1, 6), offset=st.sampled_from([0.0, 0.5]))
def test_anchors_lie_over_every_cell_row_by_row(height: int, width: int, offset: float) -> None:
    found = anchors(cells(), height, width, stride=16, offset=offset)
    places = [((row + offset) * 16, (column + offset) * 16) for row in range(height) for column in range(width)]
    wanted = [
        [x + left, y + top, x + right, y + bottom] for y, x in places for left, top, right, bottom in cells().tolist()
    ]
    assert found.numpy() == pytest.approx(np.array(wanted), abs=1e-4)


@given(
    deltas=drawn.arrays(np.float32, (5, 4), elements=st.floats(-8, 8, width=32)),
    corners=drawn.arrays(np.float32, (5, 2), elements=st.floats(-50, 50, width=32)),
    sides=drawn.arrays(np.float32, (5, 2), elements=st.floats(1, 100, width=32)),
)
def test_boxes_move_in_their_own_sides_and_grow_by_exponents_up_to_a_limit(deltas, corners, sides) -> None:
    boxes = np.concatenate([corners, corners + sides], axis=1)
    scale = (10.0, 10.0, 5.0, 5.0)
    found = decoded(torch.from_numpy(deltas), torch.from_numpy(boxes), scale).numpy()
    shift, growth = deltas[:, :2].astype(float) / scale[:2], deltas[:, 2:].astype(float) / scale[2:]
    middle = corners + sides / 2 + shift * sides
    grown = sides * np.exp(np.minimum(growth, math.log(1000 / 16)))
    wanted = np.concatenate([middle - grown / 2, middle + grown / 2], axis=1)
    assert found == pytest.approx(wanted, rel=1e-4, abs=1e-2)


_boxes = st.integers(1, 25).flatmap(
    lambda count: st.tuples(
        drawn.arrays(np.float32, (count, 2), elements=st.integers(-20, 90)),
        drawn.arrays(np.float32, (count, 2), elements=st.integers(0, 60)),
        st.permutations(range(count)),
    )
)


@given(made=_boxes, least=st.sampled_from([0.0, 9.5, 500.0]), most=st.integers(1, 30), considered=st.integers(1, 30))
def test_the_surest_boxes_stay_that_no_surer_one_overlaps(made, least: float, most: int, considered: int) -> None:
    corners, sides, ranks = made
    boxes = np.concatenate([corners, corners + sides], axis=1)
    logits = np.array(ranks, np.float32)
    found = proposed(
        torch.from_numpy(boxes),
        torch.from_numpy(logits),
        (64, 80),
        considered=considered,
        overlap=0.7,
        most=most,
        least_side=least,
    )
    order = np.argsort(-logits)[:considered]
    cut = np.clip(boxes[order], 0, [80, 64, 80, 64])
    smaller = np.minimum(cut[:, 2] - cut[:, 0], cut[:, 3] - cut[:, 1])
    stays = (smaller >= least) & (smaller > 0)
    stays = stays if stays.any() else smaller > 0
    if stays.any():
        wanted = cut[stays][suppressed(cut[stays], -np.arange(stays.sum()), 0.7)][:most]
    else:
        wanted = np.array([[0, 0, 80, 64]])
    assert found.tolist() == wanted.tolist()


@given(made=_boxes, classes=st.integers(1, 6), seed=st.integers(0, 99), overlap=st.sampled_from([0.3, 0.5]))
def test_a_region_is_as_sure_as_its_best_class_in_which_no_surer_one_overlaps(
    made, classes: int, seed: int, overlap: float
) -> None:
    corners, sides, _ = made
    boxes = np.concatenate([corners, corners + sides + 1], axis=1)
    scores = np.random.default_rng(seed).dirichlet(np.ones(classes + 1), len(boxes))[:, :classes].astype(np.float32)
    found = confidence(torch.from_numpy(boxes), torch.from_numpy(scores), overlap)
    assert found.numpy() == pytest.approx(confidence_of(boxes, scores, overlap), abs=1e-7)


# The network


def test_regions_are_those_of_the_same_network_written_out_layer_by_layer(tiny, loaded: BottomUp) -> None:
    state, image = tiny[1], picture(0)
    entering = torch.from_numpy(image[:, :, ::-1].astype(np.float32)).permute(2, 0, 1)[None]
    entering = functional.interpolate(entering, (96, 128), mode="bilinear") - torch.from_numpy(MEAN).view(1, 3, 1, 1)
    values = map_of(state, entering)
    assert values.shape[2:] == (6, 8)
    head = "proposal_generator.rpn_head"
    hidden = functional.conv2d(values, state[f"{head}.conv.weight"], state[f"{head}.conv.bias"], padding=1).relu()
    logits, deltas = (
        functional.conv2d(hidden, state[f"{head}.{name}.weight"], state[f"{head}.{name}.bias"])[0].permute(1, 2, 0)
        for name in ("objectness_logits", "anchor_deltas")
    )
    boxes = decoded(deltas.reshape(-1, 4), anchors(state[NAMES], 6, 8, stride=16), (1, 1, 1, 1)).numpy()
    boxes = np.clip(boxes, 0, [128, 96, 128, 96])
    order = np.argsort(-logits.flatten().numpy(), kind="stable")
    order = [each for each in order if min(boxes[each, 2:] - boxes[each, :2]) >= 8]  # 4 pixels of the picture
    boxes = boxes[order][suppressed(boxes[order], -np.arange(len(order)), 0.7)][:40]
    pools = np.stack([pooled_of(values[0].numpy(), box) for box in boxes])
    features = stage(state, "roi_heads.res5", torch.from_numpy(pools), 1, 2).mean(dim=(2, 3))
    classes = "roi_heads.box_predictor.cls_score"
    scores = (features @ state[f"{classes}.weight"].T + state[f"{classes}.bias"]).softmax(dim=1).numpy()
    assert scores.shape[1] == CLASSES + 1
    sure = confidence_of(boxes, scores[:, :-1], 0.3)
    ranked = np.argsort(-sure, kind="stable")[:20]

    found = loaded.regions(image)
    assert found.confidence == pytest.approx(sure[ranked], abs=1e-5)
    assert found.features == pytest.approx(features.numpy()[ranked], abs=1e-4)
    assert found.boxes[:, :4] == pytest.approx(boxes[ranked] / [128, 96, 128, 96], abs=1e-5)
    assert found.boxes[:, 4:] == pytest.approx(found.boxes[:, 2:4] - found.boxes[:, :2], abs=1e-6)
    assert np.ptp(found.confidence) > 0.1


@pytest.mark.parametrize(
    ("config", "change"),
    [
        ("model:\n  max_pool: false", "the stem pools with a border"),
        ("RESNETS: {STRIDE_IN_1X1: false}", "the 3 × 3 convolution strides"),
        ("roi_box_head: {res5halve: true}", "res5 strides"),
        ("roi_box_head: {pooler_resolution: 7}", "regions are pooled to 7 × 7"),
        ("anchor_generator: {offset: 0.5}", "anchors lie in the middle of their cells"),
        ("model: {pixel_std: [57.375, 57.12, 58.395]}", "pixels are divided"),
    ],
)
def test_the_configuration_decides_what_the_tensors_do_not_say(
    tmp_path: Path, loaded: BottomUp, config: str, change: str
) -> None:
    write_frcnn(tmp_path, config=config)
    other = detector(tmp_path)
    image = picture(0)
    found = other.regions(image).features
    assert not np.array_equal(found[: len(loaded.regions(image).features)], loaded.regions(image).features), change
    assert np.isfinite(found).all()
    assert other.digest != loaded.digest


def test_without_its_configuration_the_network_is_bottom_up_attentions(tmp_path: Path, loaded: BottomUp) -> None:
    write_frcnn(tmp_path, config=None)
    assert detector(tmp_path).regions(picture(1)).features.tolist() == loaded.regions(picture(1)).features.tolist()
    only = BottomUp.load(Place(weights("bottom-up-attention"), tmp_path / "pytorch_model.bin"), selection=SMALL)
    assert only.regions(picture(1)).boxes.tolist() == loaded.regions(picture(1)).boxes.tolist()


def test_older_files_of_torch_load_the_same_network(tmp_path: Path, loaded: BottomUp) -> None:
    torch.save(frcnn_state(), tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    assert detector(tmp_path).regions(picture(1)).features.tolist() == loaded.regions(picture(1)).features.tolist()


# Pictures


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (16, 16), (37, 91), (3, 200), (200, 3), (5, 2000), (64, 64)])
def test_pictures_of_any_shape_have_regions_inside_them(loaded: BottomUp, shape: tuple[int, int]) -> None:
    image = picture(3, *shape)
    before = image.copy()
    found = loaded.regions(image)
    assert 1 <= len(found.features) <= 20
    assert found.features.shape[1] == WIDTH
    assert found.boxes.min() >= 0
    assert found.boxes.max() <= 1 + 1e-6
    assert (found.boxes[:, 4:] > 0).all()
    assert (np.diff(found.confidence) <= 0).all()
    assert np.array_equal(image, before)


@settings(max_examples=200)
@given(height=st.integers(1, 3000), width=st.integers(1, 3000))
def test_a_picture_enters_with_its_short_side_600_unless_the_long_one_exceeds_1000(height: int, width: int) -> None:
    found = Selection().scaled(height, width)
    scale = min(600 / min(height, width), 1000 / max(height, width))
    assert max(found) <= 1000
    for side, scaled in zip((height, width), found, strict=True):
        assert scaled == max(16, round(side * scale)) or abs(scaled - side * scale) <= 0.5


def test_a_picture_gives_the_same_regions_again_and_among_others(loaded: BottomUp) -> None:
    images = [picture(0), picture(1, 30, 70), picture(2), picture(4, 96, 40), picture(5)]
    alone = [loaded.regions(image) for image in images]
    for one, again in zip(alone, [loaded.regions(image) for image in images], strict=True):
        assert np.array_equal(one.features, again.features)
    loaded.runner.batch = 8
    together = loaded.regions_of(images)
    loaded.runner.batch = 1
    for one, other in zip(alone, together, strict=True):
        assert other.features == pytest.approx(one.features, abs=1e-5)
        assert other.boxes == pytest.approx(one.boxes, abs=1e-5)
        assert other.confidence == pytest.approx(one.confidence, abs=1e-6)


# UMIC


def test_umic_scores_edited_pictures_from_their_pixels(umic_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = find(f"umic@{umic_folder}").load()
    assert type(evaluator).availability().ready
    images = [picture(0), picture(0)[::-1].copy(), picture(1, 40, 90)]
    found = evaluator.score([*images, images[0]], ["A cat.", "A cat.", "a dog", "dogs"])
    assert np.isfinite(found).all()
    assert np.ptp(found) > 1e-4
    assert evaluator.score(images, ["A cat.", "A cat.", "a dog"]) == pytest.approx(found[:3], abs=1e-6)
    alone = [evaluator.score([image], ["A cat."])[0] for image in images[:2]]
    assert alone == pytest.approx(found[:2], abs=1e-6)
    own = BottomUp.load(Place(weights("bottom-up-attention"), umic_folder / "bottom-up-attention"))
    seen = evaluator.see(images[0], "A cat.")
    count = int(np.clip((own.regions(images[0]).confidence > 0.2).sum(), 10, 100))
    assert seen.notes[0].startswith(f"{count} regions")
    assert not np.array_equal(seen.views[0][1], images[0])
    assert evaluator.fingerprint.settings["detector"] == own.digest
    assert "torchvision" in evaluator.fingerprint.versions
    assert len(evaluator.runners()) == 2


def test_regions_from_pixels_score_as_the_same_regions_precomputed(
    umic_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = picture(2)
    from_pixels = find(f"umic@{umic_folder}").load().score([image], ["A cat."])
    own = BottomUp.load(Place(weights("bottom-up-attention"), umic_folder / "bottom-up-attention")).regions(image)
    folder = tmp_path / "regions"
    folder.mkdir()
    write_npz(
        folder / f"{pixel_hash(image)}.npz",
        {"features": own.features, "norm_bb": own.boxes, "conf": own.confidence[:, None]},
    )
    monkeypatch.setenv(REGIONS, str(folder))
    precomputed = find(f"umic@{umic_folder}").load()
    assert precomputed.score([image], ["A cat."]) == pytest.approx(from_pixels, abs=1e-6)
    write_npz(folder / f"{pixel_hash(image)}.npz", {**made_regions(0, 20, 20), "features": np.ones((20, WIDTH))})
    assert precomputed.score([image], ["A cat."]) != pytest.approx(from_pixels, abs=1e-4)


def test_regions_of_two_detectors_are_not_mixed(
    umic_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, edited = picture(0), picture(0)[::-1].copy()
    folder = tmp_path / "regions"
    folder.mkdir()
    arrays = {**made_regions(0, 20, 20), "features": np.ones((20, WIDTH))}
    write_npz(folder / f"{pixel_hash(known)}.npz", arrays)
    monkeypatch.setenv(REGIONS, str(folder))
    alone = find(f"umic@{umic_folder}").load()
    with pytest.raises(PartlyScored) as partly:
        alone.score([known, edited], ["A cat.", "A cat."])
    assert np.isfinite(partly.value.scores).tolist() == [True, False]
    assert "another detector than the one here" in partly.value.errors[1]
    assert alone.fingerprint.settings["detector"] is None
    assert len(alone.runners()) == 1

    own = BottomUp.load(Place(weights("bottom-up-attention"), umic_folder / "bottom-up-attention"))
    (folder / "detector.json").write_text(json.dumps({"detector": own.digest}), encoding="utf-8")
    both = find(f"umic@{umic_folder}").load()
    assert np.isfinite(both.score([known, edited], ["A cat.", "A cat."])).all()
    assert both.fingerprint.settings["detector"] == own.digest
    (folder / "detector.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"detector\.json cannot be read"):
        find(f"umic@{umic_folder}").load()


def test_where_nothing_is_sure_the_ten_best_regions_enter(umic_folder: Path) -> None:
    state = frcnn_state()
    state["roi_heads.box_predictor.cls_score.bias"][-1] += 40  # all background
    torch.save(state, umic_folder / "bottom-up-attention" / "pytorch_model.bin")
    evaluator = find(f"umic@{umic_folder}").load()
    assert evaluator.see(picture(0), "A cat.").notes[0].startswith("10 regions")
    assert np.isfinite(evaluator.score([np.full((40, 40, 3), 128, np.uint8)], ["A cat."])).all()


def test_other_weights_of_the_detector_are_another_fingerprint(umic_folder: Path) -> None:
    before = find(f"umic@{umic_folder}").load()
    write_frcnn(umic_folder / "bottom-up-attention", seed=1)
    after = find(f"umic@{umic_folder}").load()
    assert before.fingerprint.key != after.fingerprint.key
    image = picture(0)
    assert before.score([image], ["A cat."]) != pytest.approx(after.score([image], ["A cat."]), abs=1e-6)


def test_regions_chosen_otherwise_are_of_another_detector(tiny, loaded: BottomUp) -> None:
    assert detector(tiny[0]).digest == loaded.digest
    assert detector(tiny[0], replace(SMALL, overlap=0.5)).digest != loaded.digest


def test_a_detector_of_the_users_own_comes_first(
    umic_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "detector.py"
    code.write_text(DETECTOR_CODE, encoding="utf-8")
    monkeypatch.setenv(DETECTOR, f"{code}:Corners")
    evaluator = find(f"umic@{umic_folder}").load()
    assert evaluator.fingerprint.settings["detector"] == "corners-1"
    assert len(evaluator.runners()) == 1


def test_memory_counts_the_detector_where_it_will_be_loaded(umic_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = find(f"umic@{umic_folder}")
    with_detector = kind.needs_mb("cpu")
    monkeypatch.setenv(DETECTOR, "mine.py:Mine")
    size = (umic_folder / "bottom-up-attention" / "pytorch_model.bin").stat().st_size / 2**20
    assert with_detector - kind.needs_mb("cpu") == pytest.approx(size)


# What is refused, in one sentence


def _page(path: Path) -> None:
    path.write_text("<!doctype html><title>Sign in</title>", encoding="utf-8")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20_000])


def _changed(name: str, change: Callable[[torch.Tensor], torch.Tensor | None]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        state = frcnn_state()
        changed = change(state.pop(name))
        torch.save(state | ({} if changed is None else {name: changed}), path)

    return write


def _classifier(path: Path) -> None:
    torch.save({"layer1.0.conv1.weight": torch.zeros(4, 3, 3, 3), "fc.bias": torch.zeros(10)}, path)


def _wrapped(path: Path) -> None:
    torch.save({"model": frcnn_state()}, path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_page, "is a web page, not a checkpoint"),
        (_cut, "is cut off or damaged"),
        (_classifier, r"no bottom-up-attention detector: it lacks the tensor 'backbone\.stem\.conv1\.weight'"),
        (_wrapped, "holds more than tensors, e.g. 'model'"),
        (_changed(NAMES, lambda _: None), "lacks the tensor 'proposal_generator.anchor_generator.cell_anchors.0'"),
        (_changed("backbone.res4.1.conv2.norm.running_var", lambda _: None), "lacks the tensor 'backbone.res4.1"),
        (_changed(NAMES, lambda found: found[:5]), "5 anchors need 5 and 20 outputs"),
        (_changed("backbone.res3.0.conv3.weight", lambda found: found[..., 0]), r"has the shape \[32, 8, 1\]"),
        (_changed("backbone.res3.0.conv3.weight", lambda found: found[:, :3]), "its tensors do not fit together"),
        (_changed("backbone.res3.0.conv3.norm.weight", lambda found: found[:3]), "its tensors do not fit together"),
        (_changed("backbone.res3.0.conv3.weight", lambda found: found * float("nan")), "holds values that are NaN"),
    ],
)
def test_a_file_that_is_no_detector_is_refused_in_a_sentence(
    tmp_path: Path, spoil: Callable[[Path], None], message: str
) -> None:
    write_frcnn(tmp_path)
    spoil(tmp_path / "pytorch_model.bin")
    with pytest.raises(NotAvailable, match=message) as caught:
        detector(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("model: [", "is not plain YAML"),
        ("- a\n- b", "is no configuration of a detector but a list"),
        ("resnets: {norm: GN}", r"resnets\.norm: .*'BN', got 'GN'"),
        ("model: {pixel_std: [1, 0, 1]}", r"model\.pixel_std\.1: .*greater than 0"),
        ("model: {pixel_mean: [.nan, 1, 1]}", r"model\.pixel_mean\.0: .*finite"),
        ("rpn: {nms_thresh: 7}", r"rpn\.nms_thresh: .*less than or equal to 1"),
        ("model: !!python/object/apply:os.system ['true']", "is not plain YAML"),
        ("<!doctype html>", "is no configuration of a detector but a str"),
    ],
)
def test_a_configuration_that_cannot_be_followed_is_refused_in_a_sentence(
    tmp_path: Path, config: str, message: str
) -> None:
    write_frcnn(tmp_path, config=config)
    with pytest.raises(NotAvailable, match=message) as caught:
        detector(tmp_path)
    assert "\n" not in str(caught.value)


def test_the_publishers_own_configuration_is_read(tmp_path: Path, loaded: BottomUp) -> None:
    assert loaded.runner.network.recipe.model.max_pool
    write_frcnn(tmp_path, config=CONFIG.replace("nms_thresh: 0.7", "nms_thresh: 0.5"))
    assert detector(tmp_path).runner.network.recipe.rpn.nms_thresh == 0.5


def test_a_detector_of_other_features_than_umics_is_refused(umic_folder: Path) -> None:
    write_umic(umic_folder / "umic.pt", region=16)
    with pytest.raises(NotAvailable, match=f"features of {WIDTH} numbers and UMIC's network takes 16"):
        find(f"umic@{umic_folder}").load()


def test_weights_that_break_on_a_picture_are_named(tmp_path: Path) -> None:
    state = frcnn_state()
    state["backbone.stem.conv1.weight"] *= 1e37  # an empty picture passes, pixels do not
    torch.save(state, tmp_path / "pytorch_model.bin")
    broken = detector(tmp_path)
    with pytest.raises(InvalidInput, match="gives no finite number"):
        broken.regions(picture(0))
