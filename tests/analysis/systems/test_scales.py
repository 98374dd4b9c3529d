"""Scores at other scales of the cosine: against a model that scores with them, and against numpy."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.evaluators.base import DualEncoder
from core.evaluators.registry import catalogue, find
from core.evaluators.towers.encoder import scale_of
from core.evaluators.weights.fetched import Published
from core.features.systems.board_scores import COLUMNS
from core.features.systems.system_captions import PUBLISHED, WIDTH, scales
from tests.tiny import clip

CAPTIONS = ("a cat on a mat", "dog", "two birds over the sea", "a red bus in a street", "nobody")


def board_rows(evaluator: str, scores: np.ndarray) -> pd.DataFrame:
    """Rows of one system, a picture a score."""
    told = pd.DataFrame({"score": scores, "item": [f"i{each}" for each in range(len(scores))]})
    told = told.assign(source=told["item"], system="A", evaluator=evaluator, place=0, probe="", family="", cut=None)
    return told.assign(caption="a", tokens=np.nan, clip_tokens=3.0, named=np.nan, invented=np.nan)[list(COLUMNS)]


def test_they_are_what_the_evaluator_gives_where_its_description_has_that_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = find(f"pac-s++@{clip.write_pac(tmp_path / 'pac++.pth', lora=True)}").load()
    assert isinstance(loaded, DualEncoder)
    assert isinstance(loaded, Published)
    rng = np.random.default_rng(3)
    images = [rng.integers(0, 256, (50, 60, 3), dtype=np.uint8) for _ in range(4)]
    pairs = [(image, caption) for image in images for caption in CAPTIONS]

    def scored() -> np.ndarray:
        return np.asarray(loaded.score([image for image, _ in pairs], [caption for _, caption in pairs]))

    found, bins = scales(board_rows("pac-s++", scored()), ["pac-s++"], ["A"])
    assert found["w"].tolist() == sorted(PUBLISHED)
    assert found.loc[found["used"].str.startswith("here"), "w"].tolist() == [2.0]
    assert found["mean"].max() > 0.1
    for row in found.to_dict("records"):
        entry = loaded.entry.model_copy(update={"settings": {**loaded.entry.settings, "scale": row["w"]}})
        monkeypatch.setattr(type(loaded), "entry", entry)
        again = scored()
        assert row["mean"] == pytest.approx(again.mean(), rel=1e-9)
        assert row["low"] < row["mean"] < row["high"]
        assert row["over"] == pytest.approx(100 * (again > 1).mean())
        np.testing.assert_allclose([row["p5"], row["p50"], row["p95"]], np.quantile(again, (0.05, 0.5, 0.95)))
        assert (row["n_captions"], row["n_items"]) == (len(pairs), len(pairs))
        own = bins[bins["w"] == row["w"]]
        assert own["share"].sum() == pytest.approx(100)
        for each in own.to_dict("records"):
            inside = (again >= each["from_"] - 1e-9) & (again < each["to"] - 1e-9)
            assert each["share"] == pytest.approx(100 * inside.mean(), abs=100 / len(pairs))
            assert each["to"] - each["from_"] == pytest.approx(WIDTH)


def test_scores_beyond_the_scale_and_other_formulas_have_no_number() -> None:
    beyond, none = scales(board_rows("clipscore", np.asarray([0.2, 2.6])), ["clipscore"], ["A"])
    assert none.empty
    assert np.isnan(beyond["mean"]).all()
    assert beyond["note"].tolist() == ["scores of 0.2 to 2.6 were not made with w = 2.5"]
    below, _ = scales(board_rows("clipscore", np.asarray([0.2, -0.1])), ["clipscore"], ["A"])
    assert np.isnan(below["mean"]).all()
    for name in ("conse-lite0", "refclipscore", "pickscore", "e"):
        assert all(each.empty for each in scales(board_rows(name, np.asarray([0.2, 0.4])), [name], ["A"]))


def test_a_name_from_a_file_is_looked_up_and_never_opened(tmp_path: Path) -> None:
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nclass Evil: pass\n", "utf-8")
    for name in (f"{evil}:Evil", f"clipscore@{evil}", f"clipscore:{evil}", "../..", ""):
        scale_of(name)
    assert not (tmp_path / "ran").exists()


def test_every_scale_that_is_known_is_that_of_the_description() -> None:
    known = {name: scale_of(name) for name, kind in catalogue().entries.items() if issubclass(kind, Published)}
    for name, scale in known.items():
        if scale is not None:
            assert scale == catalogue().get(name).entry.settings["scale"], name  # type: ignore[attr-defined]
    assert {name for name, scale in known.items() if scale is not None} >= {
        "clipscore",
        "pac-s",
        "pac-s++",
        "pac-s++-l14",
        "siglip2",
    }
