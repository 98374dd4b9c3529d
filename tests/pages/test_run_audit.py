import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from core.analysis.effects import effects, family_groups
from core.analysis.reading import read_table
from core.audit.fingerprints import cores, describe_machine
from core.audit.run import EVERY_S
from core.corpora.curation import stratified
from core.corpora.labels import tied
from core.corpora.registry import catalogue
from core.jobs import job_files as jobs_files
from core.jobs import job_queue
from core.jobs.request import audit_request
from core.probes.titles import family_title
from core.settings import data_dir, jobs_dir, results_dir, runs_dir
from core.statistics.power import among, smallest_effect
from core.store.run_files import read_run
from core.store.store import Store
from tests.audit.squares import GATED, PLUGINS
from tests.jobs.leftovers import end_all
from tests.pages.opening import RUN, Open, texts
from tests.plugins.gate import PATIENCE_S, Gate

OWN = PLUGINS / "own.py"

SHARD_CALLS = 3
"""Calls of the evaluator that the first shard needs, 24 items under two image probes; the last six items need one."""


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    root = tmp_path / "photos"
    root.mkdir()
    lines = ["image,caption,label"]
    for index in range(30):
        pixels = np.random.default_rng(index).integers(0, 255, (32, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(root / f"{index:03d}.png")
        lines.append(f"{index:03d}.png,Noise.,bed")
    (root / "captions.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


@pytest.fixture
def clean(tmp_path: Path) -> Iterator[None]:
    """End whatever a test left running."""
    yield
    end_all(tmp_path / "data")


def plain(app: AppTest) -> str:
    return texts(app).replace("\\", "")


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def wait(app: AppTest, until: Callable[[AppTest], object]) -> AppTest:
    deadline = time.monotonic() + PATIENCE_S
    while not until(app):
        assert time.monotonic() < deadline, plain(app)
        time.sleep(0.2)
        app.run()
        assert not app.exception
    return app


def buttons(app: AppTest) -> set[str]:
    return {button.label for button in app.button}


def test_workers_are_part_of_the_link_the_command_and_the_cost(open_page: Open) -> None:
    app = open_page(RUN, evaluators="conse-lite0", probes="vflip", limit="10", workers="2" if cores() > 1 else "1")
    assert not app.exception
    field = next(each for each in app.number_input if each.label == "Workers")
    assert (field.value, field.max) == (min(2, cores()), cores())
    assert ("--workers 2" in plain(app)) == (cores() > 1)
    assert "1 shard; the time is not known. Each has at most" in plain(app)
    refused = open_page(RUN, evaluators="conse-lite0", probes="vflip", limit="10", workers="100000")
    assert f"This machine takes 1 to {cores()} workers, got '100000'; one is taken." in plain(refused)
    assert "--workers" not in plain(refused)


def test_the_cost_of_the_demo_corpus_is_told_before_anything_starts(open_page: Open) -> None:
    app = open_page(RUN, evaluators="conse-lite0,grounding-judge", probes="rotation,vflip,cultural", limit="10")
    assert not app.exception
    assert not app.error
    told = metrics(app)
    assert set(told) == {"Pictures", "Calls", "Time", "Disk"}
    assert told["Pictures"] == "10"
    calls = next(each for each in app.metric if each.label == "Calls").proto.help
    assert "of 60 unique images and" in calls  # unedited, four rotations, one flip
    pairs = 10 * (1 + 5 + 11)  # unedited, image probes; ten cultural captions and the bare template
    captions = int(re.search(r"([\d,]+) unique captions", calls)[1].replace(",", ""))
    assert told["Calls"] == str(60 + captions + pairs)
    assert told["Time"] == "unknown"
    assert re.search(
        r"Time unknown: no run here measured conse-lite0 and grounding-judge with \d+ threads? a worker yet\.",
        plain(app),
    )
    asked = "--probes cultural,vflip,rotation --evaluators conse-lite0,grounding-judge --subject template --limit 10"
    assert asked in plain(app)
    assert "What it could show" in plain(app)
    assert "No stored run knows the scatter of conse-lite0, grounding-judge: 10 items find" in plain(app)
    assert f"{smallest_effect(10):.2f} standard deviations" in plain(app)
    assert "Jobs" not in [each.value for each in app.header]
    assert not jobs_dir().exists() or not jobs_files.job_folders(jobs_dir())


FLIPS = ("vertical-flip", "horizontal-flip")


def test_what_an_audit_could_show_is_told_by_the_scatter_of_a_stored_run(open_page: Open, demo: Path) -> None:
    app = open_page(RUN, evaluators="conse-lite0", probes="vflip,hflip", limit="63")
    assert not app.exception
    with Store.open(results_dir()) as store:
        view = read_table(store).view()
        own = effects(view, family_groups(view))
    own = own[own["evaluator"] == "conse-lite0"].set_index("label")
    own = own["detectable"] * among(2) / [among(int(m)) for m in own["m_tests"]]  # the audit has two tests
    best, worst = (  # a quarter of the 252 items: twice the drift
        f"{2 * own[family]:.2f} % ({case}: {family_title(family)} under conse-lite0)"
        for family, case in zip(sorted(FLIPS, key=own.get), ("easiest", "hardest"), strict=True)
    )
    assert (
        f"With 63 items there is an 80 % chance to detect a median change of {best} or {worst}, if scores scatter as "
        "in run demo." in plain(app)
    )


def test_the_time_is_that_of_an_earlier_run_on_this_machine(open_page: Open, tmp_path: Path) -> None:
    import json

    from core.audit.fingerprints import describe_machine

    manifest = {
        "run": "earlier",
        "status": "complete",
        "schema_version": 1,
        "created": "2026-01-01T00:00:00Z",
        "counts": {},
        "corpus": {},
        "machine": describe_machine("cpu"),
        "speed": {"conse-lite0": {"images": 10, "seconds": 20.0}},
    }
    for name, machine in (("here", {}), ("elsewhere", {"processor": "another"})):
        folder = runs_dir() / name
        folder.mkdir(parents=True)
        told = manifest | {
            "run": name,
            "created": f"2026-01-0{len(name) % 9}",
            "machine": manifest["machine"] | machine,
        }
        told["speed"] = {"conse-lite0": {"images": 10, "seconds": 20.0 if name == "here" else 1.0}}
        (folder / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
    app = open_page(RUN, evaluators="conse-lite0", probes="vflip", limit="10")
    assert metrics(app)["Time"] == "40 s"  # 2 s an image, twenty images


def test_a_time_that_was_not_measured_here_is_told_from_the_fastest_to_the_slowest_elsewhere(open_page: Open) -> None:
    for name, seconds in (("fast", 3.0), ("slow", 9.0)):
        measured_runs(runs_dir(), name, processor="another", **{"conse-lite0": seconds})
    app = open_page(RUN, evaluators="conse-lite0", probes="vflip", limit="10")
    assert metrics(app)["Time"] == "1–3 min"  # twenty images
    assert "Time as on other machines: no run here measured conse-lite0" in plain(app)
    both = open_page(RUN, evaluators="conse-lite0,conse-lite2", probes="vflip", limit="10")
    assert metrics(both)["Time"] == "unknown"


def measured_runs(folder: Path, run: str = "measured", *, processor: str = "", **speed: float) -> None:
    """A run that measured seconds an image with one thread on a machine like this one, or with another processor."""
    manifest = {
        "run": run,
        "status": "complete",
        "schema_version": 1,
        "created": "2026-01-01T00:00:00Z",
        "counts": {},
        "corpus": {},
        "machine": describe_machine("cpu") | ({"processor": processor} if processor else {}),
        "threads": 1,
        "speed": {name: {"images": 1000, "seconds": 1000 * seconds} for name, seconds in speed.items()},
    }
    (folder / run).mkdir(parents=True)
    (folder / run / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def test_machines_and_a_price_are_told_and_a_cluster_counts_its_own_workers(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.audit.fingerprints.cores", lambda: 1)
    monkeypatch.setattr("pages.views.run_audit.audit_view.has_ray", lambda: True)
    measured_runs(runs_dir(), **{"conse-lite0": 30.0})
    app = open_page(RUN, evaluators="conse-lite0", probes="vflip", limit="60")  # 120 images, one hour, three shards
    app.number_input(key="run.machines").set_value(3)
    app.number_input(key="run.price").set_value(2.5).run()
    assert not app.exception
    assert "**About 20 min 00 s**, at that price 2.50" in [each.value for each in app.markdown]
    assert "3 shards, shared out as wholes among 3 workers" in plain(app)
    app.text_input(key="run.cluster").set_value("10.0.0.1:6379").run()
    app.number_input(key="run.machines").set_value(3).run()
    assert not app.exception
    assert "**About 1 h 00 min**, at that price 7.50" in [each.value for each in app.markdown]
    assert "3 shards, shared out as wholes among 1 worker" in plain(app)
    assert "Each worker has at most 260.0 MB of weights, the 1 worker 260.0 MB." in plain(app)


def test_a_link_restores_the_choices_and_says_what_it_cannot(open_page: Open) -> None:
    app = open_page(
        RUN,
        corpus="folder",
        root="/no/such/folder",
        probes="rotation,nonsense",
        limit="-3",
        subject="human",
        run_id="../up",
        evaluators="conse-lite0,histogram.py:Name",
        colour="red",
    )
    said = plain(app)
    assert not app.exception
    assert app.session_state["run.probes"] == ["rotate-10", "rotate-5", "rotate+5", "rotate+10"]
    assert app.session_state["run.evaluators"] == ["conse-lite0"]
    assert app.session_state["run.subject"] == "human"
    for lost in ("nonsense", "-3", "../up", "histogram.py:Name", "colour"):
        assert lost in said, lost
    assert "there is no folder /no/such/folder" in said
    assert app.query_params["probes"] == "rotation"
    assert "limit" not in app.query_params
    assert app.button(key="run.start").disabled


def test_a_sample_is_told_with_its_balance(open_page: Open) -> None:
    app = open_page(RUN, evaluators="conse-lite0", probes="vflip", sample="20")
    assert not app.exception
    (table,) = [each.value for each in app.dataframe if each.value.index.name == "category"]
    whole = catalogue().get("demo").load()
    drawn = stratified(whole, 20)
    assert table["items"].sum() == 20
    (said,) = [each.value for each in app.caption if each.value.startswith("Of two categories")]
    assert tied(drawn)
    assert all(
        f"{label} ({one} or {two}, n = {n})" in said.replace("\\", "") for label, (one, two, n) in tied(drawn).items()
    )
    assert dict(table["items"]) == Counter(item.category for item in drawn.items)
    assert table["items"].max() - table["items"].min() < max(Counter(item.category for item in whole.items).values())
    both = open_page(RUN, evaluators="conse-lite0", probes="vflip", sample="20", limit="5")
    assert "exclude each other" in plain(both)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"corpus": "coco"}, "Give the folder of the corpus."),
        ({"corpus": "folder", "root": "relative/path"}, "must be an absolute path"),
        ({"corpus": "folder", "root": "{empty}"}, "holds no JPEG"),
        ({"corpus": "coco", "root": "{empty}"}, "annotations"),
        ({"corpus": "folder", "root": "{empty}/file"}, "is a file; give the folder"),
        ({"corpus": "folder", "root": "{photos}", "options": "language"}, "options are key=value"),
        ({"corpus": "folder", "root": "{photos}", "options": "colour=red"}, "has no option 'colour'"),
        ({"evaluators": ""}, "Choose a metric."),
        ({"probes": ""}, "Choose an edit."),
    ],
)
def test_what_is_missing_or_wrong_is_one_sentence_and_nothing_can_be_started(
    open_page: Open, photos: Path, tmp_path: Path, query: dict[str, str], said: str
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "file").write_text("", encoding="utf-8")
    filled = {name: value.format(empty=empty, photos=photos) for name, value in query.items()}
    app = open_page(RUN, **{"evaluators": "conse-lite0", **filled})
    assert not app.exception
    assert said in plain(app)
    assert app.button(key="run.start").disabled
    assert not app.metric


def test_families_are_switched_as_a_whole_and_single_probes_by_name(open_page: Open) -> None:
    app = open_page(RUN, evaluators="conse-lite0", probes="rotation")
    app.button_group(key="run.families.spatial").set_value(["rotation", "blur"]).run()
    assert app.session_state["run.probes"][-2:] == ["blur-1", "blur-2"]
    app.multiselect(key="run.probes").set_value(["rotate+5", "blur-1", "blur-2"]).run()
    assert app.query_params["probes"] == "rotate+5,blur"
    app.button_group(key="run.probes.offered").set_value("Usual").run()
    assert "probes" not in app.query_params
    assert app.session_state["run.probes.offered"] == "Usual"
    app.button_group(key="run.probes.offered").set_value("None").run()
    assert app.button(key="run.start").disabled
    app.text_input(key="run.files").set_value("nowhere.py:Name").run()
    app.button(key="run.reset").click().run()
    assert "probes" not in app.query_params
    assert app.text_input(key="run.files").value == ""


def test_an_audit_is_started_watched_cancelled_resumed_and_led_to_its_results(
    open_page: Open, photos: Path, clean: None
) -> None:
    app = open_page(RUN, corpus="folder", root=str(photos), probes="vflip,hflip", evaluators="", run_id="mine")
    gate = Gate(data_dir())
    gate.shut(0)
    app.text_input(key="run.files").set_value(GATED).run()
    assert "files" not in app.query_params
    app.button(key="run.start").click().run()
    assert not app.exception
    assert "mine was put in line" in app.success[0].value
    assert "run_id" not in app.query_params
    wait(app, lambda app: gate.holds())
    time.sleep(EVERY_S)  # from now on the next word on progress is due
    gate.shut(SHARD_CALLS)
    wait(app, lambda app: gate.holds() and job_queue.get("mine").progress.done > 0)
    assert "Cancel" in buttons(app)
    assert ", 1 of 1" in "".join(str(bar.proto.text) for bar in app.get("progress"))
    twice = app.button(key="run.start").click().run()
    assert "The same audit is in line already as mine" in plain(twice)
    app.button(key="run.cancel.mine").click().run()
    wait(app, lambda app: "Resume" in buttons(app))
    assert "done; resume it to go on" in plain(app)
    app.toggle(key="run.log.mine").set_value(True).run()
    assert any("audit: 0 of 90 images" in code.value for code in app.code)
    gate.open()
    app.button(key="run.resume.mine").click().run()
    wait(app, lambda app: "Remove from the list" in buttons(app))
    assert job_queue.get("mine").status == "complete"
    assert read_run(runs_dir() / "mine").status == "complete"
    assert "30 items" in plain(app)
    links = {link.proto.label: str(link.proto) for link in app.get("page_link")}
    assert all("run=mine" in links[label] for label in ("See its results", "Its pictures", "Start"))
    app.button(key="run.forget").click().run()
    assert "Jobs" not in [each.value for each in app.header]
    assert (runs_dir() / "mine" / "manifest.json").is_file()


def test_corpus_and_probe_of_a_file_are_run_by_the_job_alone(open_page: Open, photos: Path, clean: None) -> None:
    app = open_page(RUN, corpus="folder", root=str(photos), probes="vflip", evaluators="", run_id="own", limit="2")
    for key, name in (("run.files", "brightness"), ("run.corpus_file", "own"), ("run.probe_files", "brighter")):
        app.text_input(key=key).set_value(f"{OWN}:{name}").run()
    assert "its cost is not told here" in plain(app)
    assert not {"files", "corpus_file", "probe_files"} & set(app.query_params)
    app.button(key="run.start").click().run()
    assert not app.exception
    wait(app, lambda app: job_queue.get("own").status == "complete")
    told = read_run(runs_dir() / "own").manifest
    assert [each["name"] for each in told["probes"]] == ["vflip", "brighter"]
    assert told["corpus"]["loader"] == f"{OWN}:own"


def test_a_finished_audit_says_how_many_answers_were_cut(open_page: Open) -> None:
    job_queue.start(audit_request(corpus="demo", evaluators=("conse-lite0",), run_id="done"), work=False)
    state = jobs_files.State(turn=1, queued="2026-01-01T00:00:00Z", status="complete")
    jobs_files.write_shape(jobs_dir() / "done" / jobs_files.STATE, state)
    codes = {"uncoded": 4, "answer-cut": 3}
    counts = {"rows": 20, "items_kept": 10, "scores_null": 7, "scores_null_by_code": codes}
    manifest = {"run": "done", "schema_version": 2, "status": "complete", "corpus": {}, "counts": counts}
    (runs_dir() / "done").mkdir(parents=True)
    (runs_dir() / "done" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    said = plain(open_page(RUN, evaluators="conse-lite0", probes="vflip"))
    assert "7 of them without a value" in said
    assert "no value: the model's answer had not ended at the most tokens that are read of it (3)." in said


def test_a_run_id_that_is_taken_is_said_to_be_so(open_page: Open) -> None:
    folder = runs_dir() / "taken"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    app = open_page(RUN, evaluators="conse-lite0", probes="vflip", run_id="taken")
    app.button(key="run.start").click().run()
    assert not app.exception
    assert "run taken is there already; choose another run id" in plain(app)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"status": "died"}, "Its process ended without a word"),
        ({"status": "failed", "exit_code": 2}, "error: something *specific*"),
        ({"status": "cancelled", "cancel": "2026-01-01T00:00:00Z"}, "Nothing was scored yet"),
        ({"status": "running", "pid": 4_000_000, "born": 1.0}, "Its process ended without a word"),
    ],
)
def test_a_job_that_ended_early_says_how_and_offers_to_resume(
    open_page: Open, changes: dict[str, object], said: str
) -> None:
    job_queue.start(audit_request(corpus="demo", evaluators=("conse-lite0",), run_id="old"), work=False)
    folder = jobs_dir() / "old"
    (folder / jobs_files.LOG).write_text("audit: 0 of 9\nerror: something *specific*\n", encoding="utf-8")
    state = jobs_files.State(turn=1, queued="2026-01-01T00:00:00Z", **changes)
    jobs_files.write_shape(folder / jobs_files.STATE, state)
    (jobs_dir() / "broken").mkdir()
    (jobs_dir() / "broken" / "job.json").write_text("{", encoding="utf-8")
    app = open_page(RUN, evaluators="conse-lite0", probes="vflip")
    assert not app.exception
    assert said in plain(app)
    assert "Resume" in buttons(app)
    assert any("cannot be read" in warning.value for warning in app.warning)
