"""The Probe lab with a tiny CLIP checkpoint that lies at a path of the user's own."""

from pathlib import Path

import pytest
import torch

from core.evaluators.weights.fetched import keep
from tests.pages.opening import LAB, Open, missing_told, texts
from tests.tiny import clip


def test_a_checkpoint_by_path_scores_in_the_lab(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    state = clip.clip_state()
    state["visual.proj"] *= -1  # so that the first picture's cosine is above 0
    torch.save(state, tmp_path / "tiny.pt")
    keep("clipscore@tiny", tmp_path / "tiny.pt")
    app = open_page(LAB, evaluators="clipscore@tiny", probes="vflip,hflip,cultural:African")
    said = texts(app)
    assert not app.exception
    assert "Score of the unedited pair" in said
    assert "clipscore" in said
    assert "did not score" not in said
    assert "No run tells how far clipscore@tiny moves by itself." in said.replace("\\", "")


def test_a_checkpoint_that_gives_no_number_says_so_beside_its_empty_chart(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    state = clip.clip_state()
    state["visual.proj"][:, 0] = 3e38  # finite, and too large to add up
    torch.save(state, tmp_path / "broken.pt")
    keep("clipscore@broken", tmp_path / "broken.pt")
    app = open_page(LAB, evaluators="clipscore@broken", probes="vflip,hflip")
    assert not app.exception
    assert "2 edits without a score, see the table." in texts(app)
    (table,) = (each.value for each in app.dataframe if "mind" in each.value)
    assert table["mind"].str.contains("could not score").any()


def test_evaluators_without_weights_are_listed_with_their_command(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    said = texts(missing_told(open_page(LAB, evaluators="", probes="")))
    assert "python -m core evaluators get clipscore" in said
    assert "python -m core evaluators get pac-s --weights PATH" in said
