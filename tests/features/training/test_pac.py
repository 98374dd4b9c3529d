"""PAC-S and PAC-S++ trained on tiny CLIPs: the paper's loss, resumption to the same weights, what evaluators load."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from core.__main__ import app
from core.errors import BadCorpus, InvalidInput
from core.evaluators.registry import find
from core.evaluators.towers.clip import load_clip
from core.evaluators.weights.checkpoints import read_state
from core.features.training.lessons import COLUMNS, Augmented, read_positives, readable
from core.features.training.train_command import curves
from core.features.training.train_pac import (
    RECIPES,
    Embedded,
    PacGain,
    choose_trained,
    look_for_pairs,
    pac_losses,
    published_state,
    train_pac,
)
from core.features.training.trainer import CURVES, Trained, table
from tests.tiny import clip, reference

COLOURS = {"red": (220, 30, 30), "green": (30, 190, 60), "blue": (30, 60, 220), "yellow": (230, 220, 40)}
SHAPES = {"square": (8, 8, 40, 40), "bar": (20, 0, 28, 48), "floor": (0, 30, 48, 48), "dot": (20, 20, 28, 28)}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads add in any order: equal to the last bit is what one thread computes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def painted(colour: str, shape: str, seed: int) -> Image.Image:
    """A shape of a colour on noise."""
    rng = np.random.default_rng(seed)
    pixels = rng.integers(90, 130, (48, 48, 3), dtype=np.uint8)
    left, top, right, bottom = SHAPES[shape]
    pixels[top:bottom, left:right] = COLOURS[colour]
    return Image.fromarray(pixels)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """64 pairs, four pictures of each colour and shape, with their positives."""
    found = tmp_path_factory.mktemp("positives")
    rows = []
    for turn in range(4):
        for colour in COLOURS:
            for shape in SHAPES:
                name = f"{colour}-{shape}-{turn}.png"
                painted(colour, shape, 2 * turn).save(found / name)
                painted(colour, shape, 2 * turn + 1).save(found / f"made-{name}")
                rows.append((name, f"a {colour} {shape}", f"made-{name}", f"the {shape} is {colour}"))
    write(found / "positives.csv", rows)
    return found


def write(path: Path, rows: list[tuple[str, ...]], columns: tuple[str, ...] = COLUMNS) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clip") / "tiny.pt"
    state = clip.clip_state() | {"logit_scale": torch.tensor(3.0)}
    torch.save(state, path)
    return path


SMALL = {
    name: replace(recipe, epochs=2, batch=12, learning_rate=1e-3, checkpoint_every=3, held_out=0.25)
    for name, recipe in RECIPES.items()
}


def test_the_constants_are_those_of_the_paper() -> None:
    later, first = RECIPES["pac-s++"], RECIPES["pac-s"]
    # Section 5.1: rank 4, AdamW at 1e-4, batch 256, λv 0.1, λt 0.001, 1,500 iterations without a lower loss.
    told = (later.rank, later.learning_rate, later.batch, later.visual, later.textual, later.patience)
    assert told == (4, 1e-4, 256, 0.1, 0.001, 1500)
    # Table 7, first row: PAC-S, without LoRA, λv 0.05, λt 0.1.
    assert (first.rank, first.visual, first.textual) == (0, 0.05, 0.1)
    assert (first.learning_rate, first.batch) == (later.learning_rate, later.batch)


def info_nce(one: np.ndarray, other: np.ndarray, temperature: float) -> float:
    """Equation 1 by its sums, averaged over both ways as the sentence behind it says."""
    n, total = len(one), 0.0
    for i in range(n):
        row = [np.exp(one[i] @ other[j] / temperature) for j in range(n)]
        column = [np.exp(one[j] @ other[i] / temperature) for j in range(n)]
        total += -np.log(row[i] / sum(row)) / n - np.log(column[i] / sum(column)) / n
    return total / 2


def test_the_loss_is_equation_three_by_hand() -> None:
    rng = np.random.default_rng(3)
    v, t, made_v, made_t = (row / np.linalg.norm(row, axis=1, keepdims=True) for row in rng.normal(size=(4, 6, 9)))
    parts = [info_nce(*pair, 1 / 20) for pair in ((v, t), (made_v, t), (v, made_t))]
    embedded = Embedded(*map(torch.tensor, (v, t, made_v, made_t)))
    found = pac_losses(embedded, scale=20, visual=0.3, textual=0.7).numbers()
    assert list(found.values())[1:] == pytest.approx(parts, abs=1e-9)
    assert found["total"] == pytest.approx(parts[0] + 0.3 * parts[1] + 0.7 * parts[2], abs=1e-9)


@pytest.mark.parametrize("name", RECIPES)
def test_the_first_step_of_a_training_is_the_papers_loss_on_the_whole_network(
    folder: Path, weights: Path, tmp_path: Path, name: str
) -> None:
    """Towers in plain numpy, the prefix of the evaluator and the temperature of the checkpoint."""
    from core.features.training.train_pac import PacTrainer
    from tests.evaluators.test_published_clip import tokens

    pairs = read_positives(folder)[0][:5]
    state = clip.clip_state() | {"logit_scale": torch.tensor(3.0)}
    network, _ = load_clip(weights, quick_gelu=True)
    choose_trained(network, rank=RECIPES[name].rank, seed=1)
    trainer = PacTrainer(network, pairs, pairs, RECIPES[name], identity="", folder=tmp_path)

    def picture(path: Path) -> np.ndarray:
        return reference.image_embedding(state, reference.picture(np.asarray(Image.open(path)), clip.SIDE))

    def text(caption: str) -> np.ndarray:
        return reference.text_embedding(state, tokens(f"A photo depicts {caption}"))

    v, made_v = (np.array([picture(each.pictures[side]) for each in pairs]) for side in (0, 1))
    t, made_t = (np.array([text(getattr(each, side)) for each in pairs]) for side in ("caption", "made_caption"))
    parts = [info_nce(*pair, float(np.exp(-3.0))) for pair in ((v, t), (made_v, t), (v, made_t))]
    expected = parts[0] + RECIPES[name].visual * parts[1] + RECIPES[name].textual * parts[2]
    assert float(trainer.losses(pairs, 0).total.detach()) == pytest.approx(expected, rel=1e-4)


def test_pairs_find_each_other_by_their_nearest_cosine() -> None:
    said = (("a", "one"), ("a", "two"), ("b", "three"), ("c", "four"))
    images = torch.eye(3)[[0, 0, 1, 2]]
    captions = torch.tensor([[1.0, 0, 0], [0.6, 0.8, 0], [0, 1, 0], [0, 0.8, 0.6]])
    found = look_for_pairs(pairs_of(said), Embedded(images, captions, images, captions), 0.5)
    assert found.caption.tolist() == [0.5, 1.0, 0.0]  # the second caption of a finds b, and so does that of c
    assert found.picture.tolist() == [1.0, 1.0, 1.0]
    assert found.both.tolist() == [75.0, 100.0, 50.0]
    assert (found.loss, found.captions) == (0.5, 4)


def test_a_caption_of_two_pictures_is_right_for_both_and_a_constant_finds_what_chance_finds() -> None:
    pairs = pairs_of((("a", "one"), ("b", "one"), ("c", "two"), ("d", "three")))
    images = torch.eye(4)
    captions = torch.tensor([[0.7, 0.6, 0, 0.3], [0.7, 0.6, 0, 0.3], [0, 0, 1, 0], [0, 0, 0, 1]])
    found = look_for_pairs(pairs, Embedded(images, captions, images, captions), 0.5)
    assert (found.caption.tolist(), found.picture.tolist(), found.captions) == ([1.0] * 4, [1.0] * 4, 3)
    same = torch.ones(4, 4) / 2
    blind = look_for_pairs(pairs, Embedded(same, same, same, same), 0.5)
    assert (blind.caption.sum(), blind.picture.sum()) == (2, 2)  # of "one" both pictures are right, of the others none


def pairs_of(said: tuple[tuple[str, str], ...]) -> list[Augmented]:
    return [Augmented(image, caption, image, caption, Path()) for image, caption in said]


Whole = dict[str, tuple[Path, Trained[PacGain]]]


@pytest.fixture(scope="module")
def whole(folder: Path, weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    found = {}
    for name, recipe in SMALL.items():
        out = tmp_path_factory.mktemp("whole")
        pairs, _ = read_positives(folder)
        found[name] = out, train_pac(pairs, recipe, name=name, out=out, weights=weights)
    return found


def test_training_scores_and_gains_on_pairs_that_it_never_saw(folder: Path, weights: Path, whole: Whole) -> None:
    pixels = [np.asarray(Image.open(folder / f"{colour}-dot-0.png")) for colour in COLOURS]
    captions = [f"a {colour} dot" for colour in COLOURS]
    for name, (out, trained) in whole.items():
        gain = trained.gain
        assert (trained.train, trained.held_out, len(gain.after.picture)) == (48, 16, 16)
        assert gain.after.loss < gain.before.loss
        after = find(f"{name}@{out / name}.pth").load().score(pixels, captions)
        before = find(f"{name}@{weights}").load().score(pixels, captions)
        assert np.isfinite(after).all()
        assert not np.allclose(after, before)
        assert gain.change.estimate == pytest.approx(float((gain.after.both - gain.before.both).mean()))


def test_what_an_evaluator_loads_is_what_was_trained(folder: Path, weights: Path, whole: Whole) -> None:
    base = clip.clip_state()
    for name, (out, _) in whole.items():
        state = read_state(out / f"{name}.pth")
        changed = {key for key, value in base.items() if key != "logit_scale" and not torch.equal(state[key], value)}
        adapters = {key for key in state if "lora" in key}
        if name == "pac-s":
            assert (changed, adapters) == ({"visual.proj", "text_projection"}, set())
        else:
            assert not changed
            attention = {key for key in clip.adapters() if ".attn." in key}
            assert adapters == attention  # those names of the publisher that are of an attention
            assert {tuple(state[key].shape) for key in adapters if key.endswith("in_proj_weight_lora_A")} == {(4, 64)}
        merged = reference.merged(state)
        picture = np.asarray(Image.open(folder / "red-bar-0.png"))
        found = find(f"{name}@{out / name}.pth").load().encode_images([picture])[0].numpy()
        assert found == pytest.approx(
            reference.image_embedding(merged, reference.picture(picture, clip.SIDE)), abs=1e-4
        )


def test_adapters_change_nothing_before_the_first_step_and_only_what_they_are_added_to(weights: Path) -> None:
    network, _ = load_clip(weights, quick_gelu=True)
    pixels = torch.rand(2, 3, clip.SIDE, clip.SIDE, generator=torch.Generator().manual_seed(0))
    before = network.encode_image(pixels)
    choose_trained(network, rank=3, seed=5)
    assert torch.allclose(network.encode_image(pixels), before, atol=1e-5)
    assert all("lora_" in name for name, value in network.named_parameters() if value.requires_grad)
    assert sum(value.requires_grad for value in network.parameters()) == 2 * 2 * 2 * clip.LAYERS
    with pytest.raises(InvalidInput, match="between 1 and 64, the width of a tower, got 65"):
        choose_trained(load_clip(weights, quick_gelu=True)[0], rank=65, seed=5)
    assert {name for name in published_state(network) if "lora" not in name} == set(clip.clip_state())


@pytest.mark.parametrize("name", RECIPES)
def test_a_stopped_training_goes_on_to_the_same_weights(
    folder: Path, weights: Path, tmp_path: Path, whole: Whole, name: str
) -> None:
    def stop(done: int, total: int) -> None:
        if done == 7:  # beyond the checkpoint of step 6, in the middle of the second epoch
            raise KeyboardInterrupt

    pairs, _ = read_positives(folder)
    with pytest.raises(KeyboardInterrupt):
        train_pac(pairs, SMALL[name], name=name, out=tmp_path, weights=weights, report=stop)
    assert not (tmp_path / f"{name}.pth").exists()
    steps: list[int] = []
    again = train_pac(
        pairs,
        replace(SMALL[name], resume=True),
        name=name,
        out=tmp_path,
        weights=weights,
        report=lambda done, total: steps.append(done),
    )
    assert steps == [7, 8]
    out, trained = whole[name]
    one, other = read_state(out / f"{name}.pth"), read_state(tmp_path / f"{name}.pth")
    assert one.keys() == other.keys()
    assert all(torch.equal(one[key], other[key]) for key in one)
    assert (again.gain.change, again.gain.after.loss) == (trained.gain.change, trained.gain.after.loss)
    told = [path / f"{name}-training" / CURVES for path in (out, tmp_path)]
    assert told[0].read_text() == told[1].read_text()


def test_it_ends_where_the_held_out_loss_stops_falling_and_keeps_the_best(
    folder: Path, weights: Path, tmp_path: Path
) -> None:
    recipe = replace(SMALL["pac-s"], epochs=30, learning_rate=0.05, patience=8)
    pairs, _ = read_positives(folder)
    trained = train_pac(pairs, recipe, name="pac-s", out=tmp_path, weights=weights)
    rows = table(tmp_path / "pac-s-training" / CURVES)
    losses = rows[(rows["name"] == "loss") & (rows["step"] > 0)]
    best = losses.loc[losses["value"].idxmin()]
    assert trained.gain.steps == best["step"] < losses["step"].max() == best["step"] + 8 < 30 * 4
    assert trained.gain.after.loss == pytest.approx(best["value"])
    drawn = curves(rows).frame
    assert {"whole loss", "of what is held out", "captions", "pictures", "mean of both ways"} <= set(drawn["series"])


def test_what_cannot_be_learned_from_is_left_out_and_counted(folder: Path, tmp_path: Path) -> None:
    for name in ("a.png", "b.png", "made.png"):
        painted("red", "dot", 1).save(tmp_path / name)
    (tmp_path / "b.png").write_bytes((tmp_path / "b.png").read_bytes()[:90])
    rows = [
        ("a.png", "a red dot", "made.png", "a dot"),
        ("b.png", "a red dot", "made.png", "a dot"),
        ("a.png", " ", "made.png", "a dot"),
        ("a.png", "a red dot", "", "a dot"),
        ("a.png", "a red dot", "made.png", ""),
        ("a.png", "a red dot", "gone.png", "a dot"),
        ("", "a red dot", "made.png", "a dot"),
    ]
    found, left_out = read_positives(write(tmp_path / "some.csv", rows))
    assert left_out == {"blank-caption": 1, "no-positive": 2, "missing-picture": 2}
    kept, broken, hashes = readable(found)
    assert ([each.image for each in kept], broken) == (["a.png"], {"unreadable-image": 1})
    assert {path.name for path in hashes} == {"a.png", "made.png"}
    with pytest.raises(InvalidInput, match=r"no pair is left to learn from \(1 unreadable-image; .*b\.png"):
        readable([each for each in found if each.image == "b.png"])
    with pytest.raises(InvalidInput, match=r"no pair is left to learn from \(2 no-positive; .*a generated one of each"):
        read_positives(write(tmp_path / "none.csv", rows[3:5]))
    with pytest.raises(InvalidInput, match="climbs out of"):
        read_positives(write(tmp_path / "out.csv", [("../x.png", "a dot", "made.png", "a dot")]))
    with pytest.raises(BadCorpus, match="has no column 'generated_caption'; it needs image, caption"):
        read_positives(write(tmp_path / "three.csv", [("a", "b", "c")], COLUMNS[:3]))


def test_a_folder_without_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match=r"holds no positives\.csv or positives\.jsonl; give a table with the columns"):
        read_positives(tmp_path)


def test_json_lines_say_the_same(folder: Path, tmp_path: Path) -> None:
    import json

    rows, _ = read_positives(folder)
    keys = dict(zip(COLUMNS, ("image", "caption", "made_image", "made_caption"), strict=True))
    lines = [json.dumps({column: getattr(each, key) for column, key in keys.items()}) for each in rows]
    path = folder / "again.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert read_positives(path)[0] == rows


def said(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["train", *words])
    return done.exit_code, " ".join(done.output.split())


@pytest.mark.parametrize("name", RECIPES)
def test_the_command_trains_and_says_what_was_gained(folder: Path, weights: Path, tmp_path: Path, name: str) -> None:
    words = [name, "--positives", str(folder), "--out", str(tmp_path), "--weights", str(weights), "--device", "cpu"]
    words += ["--epochs", "1", "--batch", "12", "--held-out", "0.25"]
    code, told = said(*words)
    assert code == 0, told
    assert "different held-out captions of 16 pictures" in told
    assert f"score with {name}@" in told
    assert "plotly" in (tmp_path / f"{name}-training" / "curves.html").read_text(encoding="utf-8")
    code, told = said(*words)
    assert (code, "--overwrite starts over" in told) == (2, True)


def test_what_cannot_be_trained_is_refused_in_a_sentence(folder: Path, weights: Path, tmp_path: Path) -> None:
    given = ["--out", str(tmp_path), "--weights", str(weights)]
    whole = ["--positives", str(folder), *given]
    row = [("red-dot-0.png", "a red dot", "made-red-dot-0.png", "a dot")]
    alone = ["--positives", str(write(folder / "alone.csv", row)), *given, "--device", "cpu"]
    for expected, words, sentence in (
        (2, ["pac-s", *whole, "--batch", "1"], "a batch must hold at least 2 pairs, got 1: the loss tells each pair"),
        (3, ["pac-s", *whole, "--device", "cuda:9"], "there is no device 'cuda:9' on this machine"),
        (2, ["pac-s", *whole, "--rank", "4"], "pac-s trains no adapters, got --rank 4"),
        (2, ["pac-s++", *alone], "training needs captions of at least 4 images, got 1"),
        (2, ["pac-s++", *whole, "--held-out", "1"], "must lie between 0 and 1, got 1"),
    ):
        code, told = said(*words)
        assert code == expected, (words, told)
        assert sentence in told, told
