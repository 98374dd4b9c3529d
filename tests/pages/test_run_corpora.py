"""Pages show the pictures of the run that a number is of, where two runs read one corpus differently."""

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from core.audit.again import corpus_again
from core.corpora.registry import catalogue, origin_here
from core.errors import NotAvailable
from core.store import corpus_of_run
from core.store.audited_here import note_audited
from core.store.manifest import Run
from pages.views.probe_lab.state import corpus_origins, load_corpus_of


def run_of(folder: Path, name: str) -> Run:
    told = {"name": "folder", "loader": "folder", "folder": str(folder), "options": {"captions": f"{name}.csv"}}
    return Run(folder, {"run": name, "status": "complete", "corpus": told})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a page does on its way in; the weights' folder, where audits are noted, is this test's own."""
    monkeypatch.setattr(corpus_of_run, "_serving", True)
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("published", [True, False], ids=["published", "folder"])
def test_a_folder_that_a_strangers_run_names_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, published: bool
) -> None:
    """The operator's own pictures, outside the folders of data, are no corpus because somebody's manifest says so."""
    own, run = tmp_path / "own", tmp_path / "run"
    own.mkdir()
    run.mkdir()
    Image.new("RGB", (60, 40), "navy").save(own / "cat.png")
    (own / "captions.csv").write_text("image,caption\ncat.png,Mine.\n")
    named = replace(run_of(own, "captions"), path=run / "x.duckdb" if published else run)
    with pytest.raises(NotAvailable, match="no audit on this machine read it so; put the corpus at"):
        load_corpus_of(named)
    assert named.manifest["corpus"]["name"] not in corpus_origins()
    monkeypatch.setenv("INVARISCOPE_FOLDERS", str(own))
    assert len(load_corpus_of(named).items) == 1
    outside = tmp_path / "captions.csv"
    outside.write_text("image,caption\ncat.png,Of another folder.\n")
    for option in (str(outside), "../captions.csv", "~root/captions.csv"):
        told = {**named.manifest["corpus"], "options": {"captions": option}}
        with pytest.raises(NotAvailable, match="no audit on this machine read it so"):
            load_corpus_of(replace(named, manifest={**named.manifest, "corpus": told}))


@pytest.mark.usefixtures("server")
def test_what_an_audit_on_this_machine_read_is_shown_from_anywhere(tmp_path: Path) -> None:
    Image.new("RGB", (60, 40), "navy").save(tmp_path / "cat.png")
    for name in ("mine", "other"):
        (tmp_path / f"{name}.csv").write_text("image,caption\ncat.png,Mine.\n")
    note_audited(run_of(tmp_path, "mine").manifest)
    assert len(load_corpus_of(run_of(tmp_path, "mine")).items) == 1
    with pytest.raises(NotAvailable, match="no audit on this machine read it so"):
        load_corpus_of(run_of(tmp_path, "other"))


def test_a_published_file_is_not_followed_on_the_command_line_either(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    named = run_of(tmp_path / "run", "captions")
    with pytest.raises(NotAvailable, match="no audit on this machine read it so"):
        corpus_again(replace(named, path=tmp_path / "x.duckdb"))


def test_each_run_reads_its_corpus_with_its_own_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_FOLDERS", str(tmp_path))
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
