"""The Probe lab with a tiny CLIP checkpoint that lies at a path of the user's own."""

from pathlib import Path

import pytest
import torch

from core.evaluators.published.weights import keep
from tests.pages.opening import LAB, Open, texts
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
    assert "Null band" in said


def test_evaluators_without_weights_are_listed_with_their_command(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    said = texts(open_page(LAB, evaluators="", probes=""))
    assert "python -m core evaluators get clipscore" in said
    assert "python -m core evaluators get pac-s --weights PATH" in said
