"""Pages show the pictures of the run that a number is of, where two runs read one corpus differently."""

from pathlib import Path

import pytest
from PIL import Image

from core.corpora.registry import catalogue, origin_here
from core.errors import NotAvailable
from core.store.manifest import Run
from pages.views.probe_lab.state import load_corpus_of


def run_of(folder: Path, name: str) -> Run:
    told = {"name": "folder", "loader": "folder", "folder": str(folder), "options": {"captions": f"{name}.csv"}}
    return Run(folder, {"run": name, "status": "complete", "corpus": told})


def test_each_run_reads_its_corpus_with_its_own_options(tmp_path: Path) -> None:
    Image.new("RGB", (60, 40), "navy").save(tmp_path / "cat.png")
    for name in ("first", "second"):
        (tmp_path / f"{name}.csv").write_text(f"image,caption\ncat.png,The {name} caption.\n")
    for name in ("first", "second"):
        (item,) = load_corpus_of(run_of(tmp_path, name)).items
        assert item.captions == {"en": (f"The {name} caption.",)}


def test_a_corpus_that_is_not_here_says_where_to_put_it(tmp_path: Path) -> None:
    for told in ({}, {"root": str(tmp_path / "gone")}, {"loader": "no-such", "folder": str(tmp_path), "options": {}}):
        with pytest.raises(NotAvailable, match=r"the pictures of corpus coco are not here; put its folder at .*coco"):
            origin_here("coco", told)


def test_a_shipped_corpus_needs_no_folder() -> None:
    shipped = next(loader.name for loader in catalogue() if not loader.needs_root)
    assert origin_here(shipped, {"root": "/somewhere/else"}).root is None
