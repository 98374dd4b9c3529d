"""MCS from a multilingual encoder and CLIP's own: what is learned from, the loss, what is measured, the format."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from typer.testing import CliRunner

from core.corpora.registry import catalogue
from core.corpora.schema import Corpus
from core.errors import BadCorpus, InvalidInput, NotAvailable
from core.evaluators.registry import find
from core.features.training.lessons import Lesson, Sentence, batches, lessons, of_corpus, of_file, split
from core.features.training.train_mcs import (
    MOST_MEASURED,
    TEXT,
    TRAINING,
    Distiller,
    Lessons,
    drawn,
    look_for,
    open_student,
    train_mcs,
)
from core.features.training.trainer import CURVES, Schedule, read_curves, table
from tests.tiny import clip, hub

NOUNS = ("cat", "dog", "sofa", "mat", "photo", "red", "on", "sits")
SENTENCES = tuple(
    Sentence(
        f"picture {index // 2}",
        f"a {NOUNS[index % 8]} on the mat {index}",
        {"de": f"eine {NOUNS[index % 8]} schnee {index}", "ja": f"{index} {NOUNS[index % 8]}"},
    )
    for index in range(24)
)
SCHEDULE = Schedule(epochs=2, batch=8, learning_rate=3e-3, checkpoint_every=3, held_out=0.25)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads add in any order: equal to the last bit is what one thread computes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("teacher") / "ViT-B-32.pt"
    clip.write_openai(path)
    return path


@pytest.fixture(scope="module")
def student(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DistilBERT as the hub has it, without what sentence-transformers adds."""
    whole = hub.write_sentence_transformer(tmp_path_factory.mktemp("hub") / "distilbert")
    for name in ("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"):
        (whole / name).unlink()
    return whole


@pytest.fixture(scope="module")
def whole(teacher: Path, student: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    train_mcs(SENTENCES, SCHEDULE, student=student, teacher=teacher, out=out)
    return out


def test_the_captions_of_a_corpus_translate_each_other_in_their_order() -> None:
    corpus = catalogue().get("demo").load()
    found, left_out = of_corpus(corpus, ("de", "ja"))
    assert (len(found), left_out) == (2 * len(corpus.items), {})
    item, first = corpus.items[5], next(each for each in found if each.source == corpus.items[5].id)
    assert first.english == item.captions["en"][0]
    assert first.texts == {"de": item.captions["de"][0], "ja": item.captions["ja"][0]}


def test_captions_that_cannot_be_paired_are_counted() -> None:
    corpus = catalogue().get("demo").load()
    items = list(corpus.items[:4])
    items[0] = replace(items[0], captions={"en": ("A cat.", "A dog."), "de": ("Eine Katze.",)})
    items[1] = replace(items[1], captions={"en": ("A cat.",)})
    items[2] = replace(items[2], captions={"en": ("A cat.", " "), "de": ("", "Ein Hund.")})
    items[3] = replace(items[3], captions={"en": ("A cat.",), "de": ("Eine Katze.",)})
    found, left_out = of_corpus(replace(corpus, items=tuple(items)))
    assert [each.english for each in found] == ["A cat."]
    assert left_out == {"captions-not-paired": 2, "no-translation": 2, "blank-caption": 1}


def test_a_corpus_in_one_language_is_refused() -> None:
    corpus = catalogue().get("demo").load()
    items = tuple(replace(each, captions={"en": each.captions["en"]}) for each in corpus.items)
    with pytest.raises(InvalidInput, match="no English caption of demo has a translation into de; choose a corpus in"):
        of_corpus(replace(corpus, items=items), ("de",))


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.jsonl"])
def test_a_file_has_a_column_a_language(tmp_path: Path, name: str) -> None:
    rows = [
        {"source": "1.jpg", "en": "A cat.", "de": "Eine Katze.", "ja": "猫"},
        {"source": "1.jpg", "en": "A dog.", "de": "Ein Hund.", "ja": ""},
        {"source": "2.jpg", "en": "", "de": "Ein Haus.", "ja": ""},
        {"source": "", "en": "A house.", "de": "", "ja": ""},
        {"source": "", "en": "A tree.", "de": "Ein Baum.", "ja": ""},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if name.endswith("csv"):
        text = "source,en,de,ja\n" + "".join(",".join(row.values()) + "\n" for row in rows)
    (tmp_path / name).write_text(text, encoding="utf-8")
    found, left_out = of_file(tmp_path / name)
    assert found == (
        Sentence("1.jpg", "A cat.", {"de": "Eine Katze.", "ja": "猫"}),
        Sentence("1.jpg", "A dog.", {"de": "Ein Hund."}),
        Sentence("line 4", "A tree.", {"de": "Ein Baum."}),
    )
    assert left_out == {"blank-caption": 1, "no-translation": 1}
    assert [each.texts for each in of_file(tmp_path / name, ("ja",))[0]] == [{"ja": "猫"}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("en\nA cat.\n", "needs a column 'en' and one of another language, got en"),
        ("de,fr\nEine Katze.,Un chat.\n", "needs a column 'en'"),
        ("en,German\nA cat.,Eine Katze.\n", "'German' is no language such as en, de, ja, nor 'source'"),
        ("en,de\nA cat.\n", "line 2: another number of cells"),
        ("", "needs a column 'en' and one of another language, got none"),
    ],
)
def test_a_file_of_other_columns_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pairs.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BadCorpus, match=said):
        of_file(tmp_path / "pairs.csv")


def test_a_cell_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text('{"en": "A cat.", "de": 3}\n', encoding="utf-8")
    with pytest.raises(BadCorpus, match=r"line 1: de must be a text, got int"):
        of_file(tmp_path / "pairs.jsonl")


def test_a_file_without_a_translation_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("en,de\nA cat.,\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"no English sentence of .* has a translation"):
        of_file(tmp_path / "pairs.csv")


def test_sentences_of_a_picture_are_held_out_together_and_every_text_is_learned_once_an_epoch() -> None:
    train, apart = split(SENTENCES, held_out=0.25, seed=1)
    assert {each.source for each in train}.isdisjoint(each.source for each in apart)
    assert len({each.source for each in apart}) == 3
    every = lessons(train)
    assert len(every) == 3 * len(train)
    assert {each.language for each in every} == {"en", "de", "ja"}
    first = batches(every, size=7, seed=1, epoch=0)
    assert sorted(map(str, (each for batch in first for each in batch))) == sorted(map(str, every))
    assert first == batches(every, size=7, seed=1, epoch=0) != batches(every, size=7, seed=1, epoch=1)
    with pytest.raises(InvalidInput, match="at least 3 sources, got 1"):
        split(SENTENCES[:2], held_out=0.5, seed=1)
    with pytest.raises(InvalidInput, match=r"must lie between 0 and 1, got 1\.0"):
        split(SENTENCES, held_out=1.0, seed=1)


def test_the_loss_is_the_mean_squared_difference_of_raw_embeddings(student: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    wanted = {each.english: torch.tensor(rng.normal(size=24), dtype=torch.float32) for each in SENTENCES}
    given = Lessons(lessons(SENTENCES), lessons(SENTENCES), wanted, "x")
    distiller = Distiller(open_student(student, 24, seed=0).eval(), given, SCHEDULE, folder=tmp_path)
    batch = lessons(SENTENCES)[3:9]
    with torch.inference_mode():
        made = distiller.embed([each.text for each in batch]).numpy().astype(float)
        found = distiller.losses(batch, 0).numbers()["total"]
    expected = np.mean([(wanted[each.english].numpy() - row) ** 2 for each, row in zip(batch, made, strict=True)])
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_text_is_found_where_its_own_sentence_is_the_nearest() -> None:
    teacher = {"east": torch.tensor([2.0, 0.0]), "north": torch.tensor([0.0, 1.0]), "west": torch.tensor([-1.0, 0.0])}
    made = {"ost": [1.0, 0.1], "nord": [1.0, 0.0], "west": [-3.0, 0.5]}
    held_out = [Lesson("1", "east", "de", "ost"), Lesson("2", "north", "de", "nord"), Lesson("3", "west", "nl", "west")]

    def embed(texts):  # type: ignore[no-untyped-def]
        return torch.tensor([made[text] for text in texts])

    found = look_for(held_out, teacher, embed, seed=0)
    assert found.found == {"de": 50.0, "nl": 100.0}
    assert found.mean_found == 75.0
    assert found.low <= 75.0 <= found.high
    assert (found.candidates, found.texts, found.sources) == (3, 3, 3)
    assert found.error["nl"] == pytest.approx((4 + 0.25) / 2)
    assert found.cosine["de"] == pytest.approx((1 / np.hypot(1, 0.1) + 0) / 2)


def test_the_interval_is_over_sources_and_what_is_alike_in_all_is_certain() -> None:
    teacher = {str(index): torch.eye(8)[index] for index in range(8)}
    held_out = [Lesson(str(index // 2), str(index), "de", str(index)) for index in range(8)]

    def right(texts):  # type: ignore[no-untyped-def]
        return torch.stack([teacher[text] for text in texts])

    def half(texts):  # type: ignore[no-untyped-def]
        return torch.stack([teacher[text if int(text) < 4 else "0"] for text in texts])

    sure = look_for(held_out, teacher, right, seed=0)
    assert (sure.low, sure.mean_found, sure.high) == (100.0, 100.0, 100.0)
    unsure = look_for(held_out, teacher, half, seed=0)
    assert unsure.mean_found == 50.0
    assert (unsure.low, unsure.high) == (0.0, 100.0)  # of 4 sources two are wholly found; of 8 texts it were narrower


def test_so_many_sentences_are_measured_and_their_texts_with_them() -> None:
    many = [Lesson(str(index), str(index), language, f"{index}") for index in range(2500) for language in ("en", "de")]
    kept = drawn(many, seed=1)
    assert len({each.english for each in kept}) == MOST_MEASURED
    assert len(kept) == 2 * MOST_MEASURED
    assert kept == drawn(many, seed=1) != drawn(many, seed=2)


def test_the_result_scores_as_mcs_with_the_teachers_pictures(whole: Path, teacher: Path) -> None:
    images = [np.full((30, 40, 3), 90 * index, dtype=np.uint8) for index in range(3)]
    made = find(f"mcs@{whole}").load()
    captions = ["eine katze schnee", "a cat on the mat", "a dog"]
    assert np.isfinite(made.score(images, captions)).all()
    assert torch.equal(made.encode_images(images), find(f"clipscore@{teacher}").load().encode_images(images))
    assert {path.suffix for path in (whole / TEXT).rglob("*") if path.is_file()} <= {".json", ".txt", ".safetensors"}
    assert json.loads((whole / TEXT / "2_Dense" / "config.json").read_text())["bias"] is False


def test_an_encoder_that_learns_comes_nearer_to_its_teacher(whole: Path) -> None:
    lines = [line for line in read_curves(whole / TRAINING / CURVES) if line["kind"] == "held-out"]
    assert [line["step"] for line in lines] == [0, 7, 14]
    for language in ("en", "de", "ja"):
        assert lines[-1]["error"][language] < lines[0]["error"][language]
    names = set(table(whole / TRAINING / CURVES)["name"])
    assert {"total", "found de", "cosine ja", "error en", "mean_found", "low", "high"} <= names


def test_a_stopped_training_goes_on_to_the_same_weights(
    teacher: Path, student: Path, whole: Path, tmp_path: Path
) -> None:
    def stop(done: int, total: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_mcs(SENTENCES, SCHEDULE, student=student, teacher=teacher, out=tmp_path, report=stop)
    assert not (tmp_path / TEXT).exists()
    read: list[int] = []
    train_mcs(
        SENTENCES,
        replace(SCHEDULE, resume=True),
        student=student,
        teacher=teacher,
        out=tmp_path,
        reading=lambda done, total: read.append(total),
    )
    assert not read  # the teacher's embeddings were kept
    for name in ("model.safetensors", "2_Dense/model.safetensors"):
        one, other = load_file(whole / TEXT / name), load_file(tmp_path / TEXT / name)
        assert all(torch.equal(one[key], other[key]) for key in one | other)
    assert (whole / TRAINING / CURVES).read_text() == (tmp_path / TRAINING / CURVES).read_text()
    with pytest.raises(InvalidInput, match="exists; --resume goes on with it"):
        train_mcs(SENTENCES, SCHEDULE, student=student, teacher=teacher, out=tmp_path)
    with pytest.raises(InvalidInput, match="other settings"):
        train_mcs(SENTENCES[:20], replace(SCHEDULE, resume=True), student=student, teacher=teacher, out=tmp_path)


def test_what_was_learned_goes_on_learning(whole: Path, teacher: Path, tmp_path: Path) -> None:
    before = open_student(whole / TEXT, 24, seed=0).state_dict()
    short = replace(SCHEDULE, epochs=1)
    trained = train_mcs(SENTENCES, short, student=whole / TEXT, teacher=teacher, out=tmp_path)
    after = open_student(tmp_path / TEXT, 24, seed=0).state_dict()
    assert before.keys() == after.keys()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    assert trained.gain.steps == 7


def test_a_student_of_another_width_or_none_is_refused(teacher: Path, tmp_path: Path) -> None:
    wide = hub.write_sentence_transformer(tmp_path / "wide", out=16)
    with pytest.raises(InvalidInput, match="gives 16 numbers a text and the teacher 24; choose a student that fits"):
        train_mcs(SENTENCES, SCHEDULE, student=wide, teacher=teacher, out=tmp_path / "out")
    (tmp_path / "none").mkdir()
    with pytest.raises(NotAvailable, match=r"none holds no config\.json: no transformer in the hub's format"):
        train_mcs(SENTENCES, SCHEDULE, student=tmp_path / "none", teacher=teacher, out=tmp_path / "out2")
    (tmp_path / "none" / "config.json").write_text("{}")
    with pytest.raises(NotAvailable, match="none is no transformer that can be loaded"):
        train_mcs(SENTENCES, SCHEDULE, student=tmp_path / "none", teacher=teacher, out=tmp_path / "out3")


def test_without_the_teachers_weights_the_command_that_gets_them_is_named(student: Path, tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match="get it with: python -m core evaluators get clipscore"):
        train_mcs(SENTENCES, SCHEDULE, student=student, out=tmp_path)


def test_a_sentence_that_the_teacher_would_cut_is_left_out(teacher: Path, student: Path, tmp_path: Path) -> None:
    long = Sentence("long", "cat " * 90, {"de": "katze"})
    trained = train_mcs((*SENTENCES, long), replace(SCHEDULE, epochs=1), student=student, teacher=teacher, out=tmp_path)
    assert trained.left_out == {"cut-by-the-teacher": 1}
    assert trained.train + trained.held_out == 3 * len(SENTENCES)


def test_the_command_trains_and_writes_its_curves(teacher: Path, student: Path, tmp_path: Path) -> None:
    from core.__main__ import app

    rows = "".join(f"{each.source},{each.english},{each.texts['de']}\n" for each in SENTENCES)
    (tmp_path / "pairs.csv").write_text(f"source,en,de\n{rows},,Haus\n", encoding="utf-8")
    words = [
        "train",
        "mcs",
        "--sentences",
        str(tmp_path / "pairs.csv"),
        "--student",
        str(student),
        "--teacher",
        str(teacher),
        "--out",
        str(tmp_path / "out"),
        "--epochs",
        "1",
        "--batch",
        "8",
        "--device",
        "cpu",
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert f"mcs@{tmp_path / 'out'}" in done.output
    assert "left out: 1 blank-caption" in done.output
    assert "plotly" in (tmp_path / "out" / TRAINING / "curves.html").read_text(encoding="utf-8")
    settings = json.loads((tmp_path / "out" / TRAINING / "settings.json").read_text())
    assert (settings["languages"], settings["sentences"]) == (["de", "en"], "pairs.csv")
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 2
    assert "--overwrite starts over" in again.output


@pytest.mark.parametrize("given", [(), ("--corpus", "demo", "--sentences", "pairs.csv")])
def test_either_a_corpus_or_a_file_is_learned_from(student: Path, tmp_path: Path, given: tuple[str, ...]) -> None:
    from core.__main__ import app

    done = CliRunner().invoke(app, ["train", "mcs", "--student", str(student), "--out", str(tmp_path / "o"), *given])
    assert done.exit_code == 2
    assert "give either --corpus or --sentences" in done.output


def _pictures(folder: Path) -> Corpus:
    rng = np.random.default_rng(0)
    lines = []
    for index in range(6):
        Image.fromarray(rng.integers(0, 255, (40, 50, 3), dtype=np.uint8)).save(folder / f"{index}.png")
        lines += [f"{index}.png,a cat {index},en", f"{index}.png,eine katze {index},de"]
    (folder / "captions.csv").write_text("image,caption,language\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return catalogue().get("folder").load(folder)


def test_captions_of_a_folder_are_learned_from(teacher: Path, student: Path, tmp_path: Path) -> None:
    found, _ = of_corpus(_pictures(tmp_path))
    trained = train_mcs(found, replace(SCHEDULE, epochs=1), student=student, teacher=teacher, out=tmp_path / "out")
    assert trained.gain.after.found.keys() == {"en", "de"}
