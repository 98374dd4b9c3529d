"""PR-MCS from MCS on synthetic pictures: formulas, resumption to the same weights, the format that evaluators load."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from core.corpora.registry import catalogue
from core.corpora.schema import Corpus
from core.errors import InvalidInput, InvariscopeError, NotAvailable, StoreError
from core.evaluators.registry import find
from core.features.training.train_pac import PacRecipe
from core.features.training.trainer import CURVES, STATE, make_room, read_curves, table
from core.features.training.tuning import (
    ENCODER,
    TRAINING,
    Example,
    LossWeights,
    Recipe,
    batches,
    edited,
    examples,
    few,
    measure,
    perturb,
    pr_mcs_losses,
    rank_correlation,
    split,
    train_pr_mcs,
)
from tests.tiny import clip, hub

CAPTIONS = ("a red cat on the mat", "the dog sits on a sofa", "a photo of the snow", "eine Katze auf der Matte")


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads add in any order: equal to the last bit is what one thread computes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mcs")
    hub.write_sentence_transformer(folder / "clip-vit-b-32-multilingual")
    (folder / "openai-clip-vit-b-32").mkdir()
    clip.write_openai(folder / "openai-clip-vit-b-32" / "ViT-B-32.pt")
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    lines = []
    for index in range(12):
        Image.fromarray(rng.integers(0, 255, (40, 50, 3), dtype=np.uint8)).save(folder / f"{index}.png")
        lines.append(f"{index}.png,{CAPTIONS[index % 3]} {index},en")
        lines += [f"{index}.png,{CAPTIONS[(index + 1) % 3]},en", f"{index}.png,{CAPTIONS[3]},de"]
    (folder / "captions.csv").write_text("image,caption,language\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return catalogue().get("folder").load(folder)


RECIPE = Recipe(epochs=2, batch=4, learning_rate=1e-3, checkpoint_every=3, held_out=0.25)


def test_the_losses_are_those_of_the_paper() -> None:
    rng = np.random.default_rng(1)
    v, o, p = (rng.normal(size=(5, 7)) for _ in range(3))

    def cos(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))

    grid = np.array([[30 * cos(v[i], o[j]) for j in range(5)] for i in range(5)])
    rows = -np.mean([grid[i, i] - np.log(np.exp(grid[i]).sum()) for i in range(5)])
    columns = -np.mean([grid[i, i] - np.log(np.exp(grid[:, i]).sum()) for i in range(5)])
    first = np.mean([1 - cos(v[i], o[i]) for i in range(5)])
    second = np.mean([max(0.1, cos(v[i], p[i])) for i in range(5)])
    third = np.mean([max(0.1, cos(o[i], p[i])) for i in range(5)])
    expected = (rows + columns) / 2 + 0.1 * first + 0.05 * second + 0.05 * third
    found = pr_mcs_losses(torch.tensor(v), torch.tensor(o), torch.tensor(p), LossWeights(scale=30)).numbers()
    assert found["total"] == pytest.approx(expected, abs=1e-9)
    assert (found["original"], found["perturbed"], found["between"]) == pytest.approx((first, second, third))


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: LossWeights(original=-1.0), "λ1 must be 0 or more"),
        (lambda: LossWeights(margin=1.5), "the margin is a cosine"),
        (lambda: LossWeights(scale=0.0), "must be positive"),
        (lambda: Recipe(batch=1), "batch must be at least 2"),
        (lambda: Recipe(learning_rate=0.0), "the learning rate must be positive"),
        (lambda: Recipe(checkpoint_every=0), "steps between checkpoints must be at least 1"),
        (lambda: PacRecipe(visual=-0.1), "λv must be 0 or more"),
        (lambda: PacRecipe(patience=0), "steps of patience must be at least 1"),
        (lambda: examples((), ["xx"]), "got language 'xx'"),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_refused(made: Callable[[], object], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        made()


def test_curves_that_were_damaged_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / CURVES
    assert read_curves(path) == []
    path.write_text('{"step": 1, "kind": "losses"}\n{"kind": "losses"}\n')
    with pytest.raises(InvalidInput, match="line 2, is no line of curves"):
        read_curves(path)


def test_going_on_and_starting_over_exclude_each_other(tmp_path: Path) -> None:
    encoder, training = tmp_path / "encoder", tmp_path / "training"
    training.mkdir()
    (training / CURVES).write_text("{}\n")
    with pytest.raises(InvalidInput, match="exclude each other"):
        make_room(encoder, training, Recipe(resume=True, overwrite=True))
    with pytest.raises(InvalidInput, match="training exists; --resume goes on"):
        make_room(encoder, training, Recipe())
    make_room(encoder, training, Recipe(overwrite=True))
    assert list(training.iterdir()) == []


def test_a_batch_holds_an_image_once_and_an_epoch_every_caption(corpus: Corpus) -> None:
    found, blank = examples(corpus.items)
    assert blank == 0
    assert {each.language for each in found} == {"en", "de"}
    drawn = batches(found, size=5, seed=3, epoch=0)
    assert all(len({each.image for each in batch}) == len(batch) >= 2 for batch in drawn)
    assert sorted(map(str, (each for batch in drawn for each in batch))) == sorted(map(str, found))
    assert drawn == batches(found, size=5, seed=3, epoch=0) != batches(found, size=5, seed=3, epoch=1)


def test_held_out_images_are_never_trained_on(corpus: Corpus) -> None:
    train, apart = split(examples(corpus.items)[0], held_out=0.25, seed=1)
    assert {each.image for each in train}.isdisjoint(each.image for each in apart)
    assert len({each.image for each in apart}) == 3


def test_few_captions_are_drawn_by_the_seed_and_in_order(corpus: Corpus) -> None:
    found = examples(corpus.items)[0]
    drawn = few(found, 10, seed=1)
    assert len(drawn) == 10
    assert list(drawn) == [each for each in found if each in drawn]
    assert set(drawn) < set(few(found, 20, seed=1)) < set(found)
    assert drawn == few(found, 10, seed=1) != few(found, 10, seed=2)
    assert few(found, None, seed=1) == few(found, len(found), seed=1) == tuple(found)
    with pytest.raises(InvalidInput, match="the 1 captions drawn to learn from are of fewer than two images"):
        few(found, 1, seed=1)


def test_an_encoder_learns_from_so_many_captions_and_is_measured_on_the_rest(
    weights: Path, corpus: Corpus, tmp_path: Path
) -> None:
    trained = train_pr_mcs(corpus, replace(RECIPE, held_out=0.75), out=tmp_path, weights=weights, most=6)
    assert (trained.train, trained.held_out) == (6, 27)
    assert trained.gain.after.captions == 27


def test_every_caption_is_perturbed_even_a_single_word() -> None:
    one = Example("i", "en", 0, "cat")
    assert {perturb(one, seed=5, epoch=str(epoch)) for epoch in range(20)} == {
        ("repetition", "cat cat"),
        ("masking", "[MASK]"),
    }
    assert edited(one, "substitution", seed=1, epoch="0") is None


def test_the_drop_is_one_minus_the_ratio_of_means() -> None:
    held = [Example(f"i{index}", "en", 0, f"a dog under a cat {index}") for index in range(6)]

    def score(images, captions):  # type: ignore[no-untyped-def]
        return np.array([0.5 if caption in {each.caption for each in held} else 0.2 for caption in captions])

    found = measure(held, score, seed=0)
    assert set(found.drop) == {"repetition", "removal", "masking", "jumble", "substitution"}
    assert all(value == pytest.approx(60) for value in (*found.drop.values(), found.mean_drop, found.low, found.high))
    assert set(found.detected.values()) == {1.0}


def test_rank_correlation_is_spearmans() -> None:
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 9, 50), rng.normal(size=50)
    assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic)
    assert np.isnan(rank_correlation(np.ones(4), np.arange(4)))


@pytest.fixture(scope="module")
def whole(corpus: Corpus, weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    train_pr_mcs(corpus, RECIPE, out=out, weights=weights)
    return out


def test_the_result_scores_as_pr_mcs_and_differs_from_mcs(whole: Path, weights: Path) -> None:
    images = [np.full((30, 40, 3), 90 * index, dtype=np.uint8) for index in range(3)]
    tuned = find(f"pr-mcs@{whole}").load().score(images, CAPTIONS[:3])
    before = find(f"mcs@{weights}").load().score(images, CAPTIONS[:3])
    assert np.isfinite(tuned).all()
    assert not np.allclose(tuned, before)
    assert {path.suffix for path in (whole / ENCODER).rglob("*") if path.is_file()} <= {".json", ".txt", ".safetensors"}


def test_a_stopped_training_goes_on_to_the_same_weights(
    corpus: Corpus, weights: Path, whole: Path, tmp_path: Path
) -> None:
    def stop(done: int, total: int) -> None:
        if done == 7:  # beyond the checkpoint of step 6, in the middle of an epoch
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_pr_mcs(corpus, RECIPE, out=tmp_path, weights=weights, report=stop)
    assert not (tmp_path / ENCODER).exists()
    steps: list[int] = []
    train_pr_mcs(
        corpus,
        replace(RECIPE, resume=True),
        out=tmp_path,
        weights=weights,
        report=lambda done, total: steps.append(done),
    )
    assert steps[0] == 7
    for name in ("model.safetensors", "2_Dense/model.safetensors"):
        one, other = load_file(whole / ENCODER / name), load_file(tmp_path / ENCODER / name)
        assert one.keys() == other.keys()
        assert all(torch.equal(one[key], other[key]) for key in one)
    assert (whole / TRAINING / CURVES).read_text() == (tmp_path / TRAINING / CURVES).read_text()


def test_ctrl_c_finishes_the_step_and_saves_it(corpus: Corpus, weights: Path, tmp_path: Path) -> None:
    import signal

    def press(done: int, total: int) -> None:
        if done == 1:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train_pr_mcs(corpus, RECIPE, out=tmp_path, weights=weights, report=press)
    assert (tmp_path / TRAINING / STATE).is_file()
    assert max(line["step"] for line in read_curves(tmp_path / TRAINING / CURVES)) >= 1


def test_the_curves_have_a_line_a_step_and_a_measurement_an_epoch(whole: Path) -> None:
    lines = read_curves(whole / TRAINING / CURVES)
    losses = [line for line in lines if line["kind"] == "losses"]
    held = [line for line in lines if line["kind"] == "held-out"]
    assert [line["step"] for line in losses] == list(range(1, len(losses) + 1))
    assert [line["step"] for line in held] == [0, len(losses) // 2, len(losses)]
    rows = table(whole / TRAINING / CURVES)
    assert {"total", "clip", "mean_drop", "spearman", "drop jumble"} <= set(rows["name"])


def test_a_second_training_does_not_overwrite_the_first(corpus: Corpus, weights: Path, whole: Path) -> None:
    with pytest.raises(InvalidInput, match=r"exists; --resume goes on with it, --overwrite starts over"):
        train_pr_mcs(corpus, RECIPE, out=whole, weights=weights)


def test_other_settings_do_not_resume(corpus: Corpus, weights: Path, whole: Path) -> None:
    with pytest.raises(InvalidInput, match="other settings"):
        train_pr_mcs(corpus, replace(RECIPE, epochs=9, resume=True), out=whole, weights=weights)


def test_a_damaged_checkpoint_is_named(corpus: Corpus, weights: Path, tmp_path: Path) -> None:
    (tmp_path / TRAINING).mkdir()
    (tmp_path / TRAINING / STATE).write_bytes(b"<html>")
    with pytest.raises(InvalidInput, match=r"state\.safetensors is damaged"):
        train_pr_mcs(corpus, replace(RECIPE, resume=True), out=tmp_path, weights=weights)


def test_a_loss_that_is_no_number_stops_with_a_sentence(corpus: Corpus, weights: Path, tmp_path: Path) -> None:
    with pytest.raises(InvariscopeError, match=r"the loss is nan at step \d+ .*lower --learning-rate"):
        train_pr_mcs(corpus, Recipe(epochs=3, batch=4, learning_rate=1e30), out=tmp_path, weights=weights)


def test_without_weights_the_command_that_gets_them_is_named(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match="get it with: python -m core evaluators get mcs"):
        train_pr_mcs(corpus, RECIPE, out=tmp_path)


def test_a_corpus_without_captions_is_refused(corpus: Corpus, weights: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="12 items have no caption in ja"):
        train_pr_mcs(corpus, RECIPE, out=tmp_path, weights=weights, languages=("ja",))


def test_a_full_disk_is_said(corpus: Corpus, weights: Path, small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(b"x" * 900_000)
    with pytest.raises(StoreError, match="disk is full"):
        train_pr_mcs(corpus, RECIPE, out=small_disk, weights=weights)


def test_unreadable_images_are_left_out_and_counted(weights: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for index in range(6):
        Image.fromarray(rng.integers(0, 255, (40, 50, 3), dtype=np.uint8)).save(tmp_path / f"{index}.png")
    rows = "".join(f"{index}.png,a cat on the mat\n" for index in range(6))
    (tmp_path / "captions.csv").write_text("image,caption\n" + rows)
    found = catalogue().get("folder").load(tmp_path)
    (tmp_path / "3.png").write_bytes((tmp_path / "3.png").read_bytes()[:200])
    trained = train_pr_mcs(found, Recipe(epochs=1, batch=4), out=tmp_path / "out", weights=weights)
    assert trained.left_out == {"unreadable-image": 1}


def test_the_command_trains_and_writes_its_curves(
    corpus: Corpus, weights: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from typer.testing import CliRunner

    from core.__main__ import app

    folder = next(item.image_path for item in corpus.items if item.image_path).parent
    words = [
        "train",
        "pr-mcs",
        "--corpus",
        "folder",
        "--root",
        str(folder),
        "--weights",
        str(weights),
        "--out",
        str(tmp_path),
        "--epochs",
        "1",
        "--batch",
        "4",
        "--languages",
        "en",
        "--device",
        "cpu",
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert f"pr-mcs@{tmp_path}" in done.output
    assert "plotly" in (tmp_path / TRAINING / "curves.html").read_text(encoding="utf-8")
    assert json.loads((tmp_path / TRAINING / "settings.json").read_text())["languages"] == ["en"]
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 2
    assert "--overwrite starts over" in again.output
