"""Pages show the pictures of the run that a number is of, where two runs read one corpus differently."""

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from PIL import Image

from core.audit.record import corpus_again
from core.audit.run import run_audit
from core.corpora.registry import catalogue, origin_here
from core.errors import NotAvailable
from core.evaluators.pool import Pool
from core.settings import runs_dir
from core.statistics.bootstrap import LEAST_N
from core.store import run_sources
from core.store.run_files import Run, read_run
from core.store.run_sources import note_audited
from pages.views.common.open_runs import corpus_holding, corpus_name_of, corpus_origins, load_corpus, load_corpus_of
from tests.audit.squares import HISTOGRAM, build_corpus
from tests.manifests import edit_manifest
from tests.pages.opening import FAILURES, LAB, OVERVIEW, SYSTEMS, UNFOLDED, Open, click, marks_that_open, said
from tests.plans import make_plan


def run_of(folder: Path, name: str) -> Run:
    told = {"name": "folder", "loader": "folder", "folder": str(folder), "options": {"captions": f"{name}.csv"}}
    return Run(folder, {"run": name, "status": "complete", "corpus": told})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a page does on its way in; the weights' folder, where audits are noted, is this test's own."""
    monkeypatch.setattr(run_sources, "_serving", True)
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
        with pytest.raises(NotAvailable, match=r"the pictures of corpus coco are missing; put its folder at .*coco"):
            origin_here("coco", told)


def test_a_shipped_corpus_needs_no_folder() -> None:
    shipped = next(loader.name for loader in catalogue() if not loader.needs_root)
    assert origin_here(shipped, {"root": "/somewhere/else"}).root is None


@pytest.fixture
def halves(open_page: Open, tmp_path: Path) -> tuple[Run, Run]:
    """Two runs of corpora of one name, each of its own folder; ``train`` is the newer one."""
    made = []
    for half in ("val", "train"):
        root = tmp_path / half
        build_corpus(root, 2 * LEAST_N)
        for picture in root.glob("*.png"):
            picture.rename(root / f"{half}-{picture.name}")
        lines = [f"{half}-{place:03d}.png,A dog of {half}." for place in range(2 * LEAST_N)]
        (root / "captions.csv").write_text("\n".join(["image,caption", *lines]))
        plan = make_plan(
            catalogue().get("folder").load(root), evaluators=[HISTOGRAM], probes=["vflip", "cultural", "null"]
        )
        made.append(run_audit(plan, runs_dir(), run_id=half, pool=Pool(budget_mb=100, device="cpu")).path)
        created = {"val": "2026-01-01T00:00:00Z", "train": "2026-02-02T00:00:00Z"}[half]
        edit_manifest(made[-1], created=created)
    return read_run(made[0]), read_run(made[1])


def test_runs_of_one_corpus_name_have_a_name_each(halves: tuple[Run, Run]) -> None:
    val, train = halves
    assert [corpus_name_of(run.id, "folder") for run in halves] == ["folder of val", "folder"]
    assert load_corpus("folder of val").items == load_corpus_of(val).items
    assert load_corpus("folder").items == load_corpus_of(train).items
    assert corpus_holding("folder", "val-000.png") == "folder of val"
    assert corpus_name_of("nobody's", "folder") == "folder"
    assert corpus_name_of("nobody's", "elsewhere") is None


@pytest.mark.parametrize(("run", "corpus"), [("val", "folder of val"), ("train", "folder")])
def test_pages_show_and_open_the_corpus_of_the_run_in_view(
    open_page: Open, halves: tuple[Run, Run], run: str, corpus: str
) -> None:
    for page in (OVERVIEW, FAILURES):
        app = open_page(page, run=run, **UNFOLDED if page == OVERVIEW else {})
        assert not app.exception
        assert "has no item" not in said(app)
        ways = [
            dict(parse_qsl(each.proto.query_string))
            for each in app.get("page_link")
            if each.proto.label == "Open in Try a picture"
        ]
        assert ways, said(app)
        assert {way["corpus"] for way in ways} == {corpus}
        lab = open_page(LAB, **ways[0])
        assert not lab.exception
        assert not lab.warning
        assert lab.selectbox(key="lab.corpus").value == corpus
        assert lab.selectbox(key="lab.item").value == ways[0]["item"]
        assert ways[0]["item"].startswith(run)


@pytest.mark.usefixtures("halves")
def test_pictures_of_a_leaderboard_are_of_the_corpus_that_was_chosen(open_page: Open) -> None:
    a, b = ({f"val-{place:03d}.png": caption for place in range(8)} for caption in ("a photo of a bed", "a flag"))
    app = open_page(SYSTEMS, show="new", images="folder of val", judges="conse-lite0", edits="vflip")
    files = [(f"{name}.json", json.dumps(each).encode(), "application/json") for name, each in (("A", a), ("B", b))]
    app.file_uploader(key="systems.files").set_value(files)
    app.run().button(key="systems.score").click().run()
    assert not app.exception
    assert "of edited pictures (95 % CI" in said(app) or "changes which of two neighbours leads" in said(app)
    shown = click(app, "systems.means", marks_that_open(app, "systems.means")[0])
    assert "8 pictures, the lowest scores first" in said(shown)
    assert "has no item" not in said(shown)
