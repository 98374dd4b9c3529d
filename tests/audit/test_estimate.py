"""What a run would cost is counted, and its time is what a run on this machine measured, or not known."""

from pathlib import Path

import pytest

from core.audit.estimate import estimate, measured_speeds
from core.audit.fingerprints import cores, describe_machine
from core.audit.run import Progress, ProgressFile, Told, read_progress
from core.corpora.schema import Corpus
from core.errors import InvalidInput
from core.jobs.request import short_patterns
from core.probes.registry import catalogue, select
from core.store.run_files import Run
from tests.audit.squares import HISTOGRAM, PAIRED
from tests.plans import make_plan


def run(name: str, images: object, seconds: object, *, day: int = 1, **machine: str) -> Run:
    manifest = {
        "run": name,
        "created": f"2026-01-{day:02d}",
        "machine": describe_machine("cpu") | machine,
        "speed": {"histogram": {"images": images, "seconds": seconds}},
    }
    return Run(Path(name), manifest)


def threaded(told: Run, threads: int) -> Run:
    return Run(told.path, {**told.manifest, "threads": threads})


def test_a_speed_counts_for_as_many_threads_and_the_same_device() -> None:
    own, one = run("own", 500, 100.0), threaded(run("one", 500, 150.0), 1)
    many = cores() + 1
    assert measured_speeds([own, one], threads=many) == {}
    assert measured_speeds([own, threaded(one, many)], threads=many) == {"histogram": 0.3}
    assert measured_speeds([own], threads=cores()) == measured_speeds([own]) == {"histogram": 0.2}
    assert measured_speeds([own], device="cuda") == {}
    assert measured_speeds([own], device="cpu") == {"histogram": 0.2}


@pytest.mark.parametrize(
    ("workers", "machines", "share"),
    [(1, 1, 1), (2, 1, 4 / 7), (3, 1, 3 / 7), (2, 2, 2 / 7), (4, 2, 1 / 7), (9, 9, 1 / 7)],
)
def test_workers_and_machines_share_out_whole_shards(
    squares: Corpus, tmp_path: Path, workers: int, machines: int, share: float
) -> None:
    plan = make_plan(squares, evaluators=[HISTOGRAM], probes=["vflip"], shard_items=1)
    told = estimate(plan, tmp_path, runs=[threaded(run("a", 1000, 500.0), 1)], workers=workers, threads=1)
    assert (told.shards, told.workers, told.threads, told.weights_mb) == (7, workers, 1, 10.0 * workers)
    assert told.seconds_on(machines) == pytest.approx(7.0 * share)
    assert told.price(machines, 3.6) == pytest.approx(machines * 7.0 * share / 1000)
    unknown = estimate(plan, tmp_path, runs=[], workers=workers)
    assert (unknown.seconds_on(machines), unknown.price(machines, 1.0)) == (None, None)
    assert unknown.threads == max(1, cores() // workers)


def test_a_cluster_counts_its_workers_once_however_many_machines_they_are_on(squares: Corpus, tmp_path: Path) -> None:
    plan = make_plan(squares, evaluators=[HISTOGRAM], probes=["vflip"], shard_items=1)
    told = estimate(plan, tmp_path, runs=[threaded(run("a", 1000, 500.0), 1)], workers=4, cluster=True)
    assert told.threads == 1  # as an actor has, whatever the cores of this machine
    assert (told.worker_mb, told.weights_mb) == (10.0, 40.0)
    assert [told.workers_on(machines) for machines in (1, 2)] == [4, 4]
    assert told.seconds_on(1) == told.seconds_on(2) == pytest.approx(7.0 * 2 / 7)  # seven shards, two rounds of four
    assert told.price(2, 3600.0) == pytest.approx(2 * 2.0)


def test_an_estimate_for_no_worker_is_refused(squares: Corpus, tmp_path: Path) -> None:
    plan = make_plan(squares, evaluators=[HISTOGRAM], probes=["vflip"])
    for options in ({"workers": 0}, {"threads": 0}):
        with pytest.raises(InvalidInput, match="must be at least 1, got 0"):
            estimate(plan, tmp_path, runs=[], **options)


def test_the_latest_run_that_is_long_enough_is_the_measure() -> None:
    short, old, new = run("short", 20, 40.0, day=9), run("old", 600, 60.0), run("new", 500, 100.0, day=2)
    assert measured_speeds([short, old, new]) == {"histogram": 0.2}
    assert measured_speeds([new, short]) == {"histogram": 0.2}
    assert measured_speeds([short]) == {"histogram": 2.0}


@pytest.mark.parametrize(
    "told",
    [
        run("a", 0, 1.0),
        run("a", 5, 0.0),
        run("a", "x", 1.0),
        run("a", 5, None),
        run("a", 5, float("nan")),
        run("a", 500, 9.0, processor="another"),
        Run(Path("b"), {"speed": 3, "machine": {}}),
        Run(Path("c"), {}),
    ],
)
def test_a_run_that_measured_nothing_here_is_no_measure(told: Run) -> None:
    assert measured_speeds([told]) == {}


def test_an_estimate_counts_inputs_by_kind_and_knows_no_time_it_was_not_told(squares: Corpus, tmp_path: Path) -> None:
    plan = make_plan(squares, evaluators=[HISTOGRAM, PAIRED], probes=["vflip", "rotation"])
    told = estimate(plan, tmp_path / "not" / "there", runs=[run("a", 1000, 500.0)])
    dual, paired = told.work
    cost = plan.cost()
    assert (cost.items, cost.images) == (7, 7 * 6)
    assert (dual.dual, dual.inputs, dual.seconds) == (True, cost.images + cost.captions, 0.5 * 42)
    assert (paired.dual, paired.inputs, paired.seconds) == (False, cost.pairs, None)
    assert told.inputs == dual.inputs + paired.inputs
    assert (told.seconds, told.unmeasured) == (None, ("paired-histogram",))
    assert told.kept_bytes < told.working_bytes < told.free_bytes
    assert told.fits
    assert told.between is None
    apart = [run(name, 1000, 1000 * speed, processor=name) for name, speed in (("x", 0.1), ("y", 0.3))]
    known = estimate(plan, tmp_path, runs=[*apart, run("z", 9, 900.0, processor="z")], workers=1)
    assert (known.seconds, known.between) == (None, None)  # nobody timed the other one
    alone = estimate(make_plan(squares, evaluators=[HISTOGRAM], probes=["vflip"]), tmp_path, runs=apart)
    assert alone.seconds is None
    assert alone.between == pytest.approx((0.1 * 14, 0.3 * 14))
    alone = estimate(make_plan(squares, evaluators=[HISTOGRAM], probes=["vflip"]), tmp_path, runs=[run("a", 10, 5.0)])
    assert alone.seconds == 0.5 * 14


def test_progress_passes_through_its_file(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    tell = ProgressFile(path, every_s=0)
    tell(Progress("scoring", 3, 12, 1.5, 4.5, 0, 2))
    told = read_progress(path)
    assert told is not None
    assert (told.phase, told.done, told.total, told.shards, told.share) == ("scoring", 3, 12, 2, 0.25)
    assert told.left_s(told.at + 1) == 3.5
    assert told.left_s(told.at + 60) == 0
    assert [each.name for each in tmp_path.iterdir()] == ["progress.json"]


def test_progress_is_written_now_and_then_and_at_every_new_phase(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    tell = ProgressFile(path, every_s=3600)
    for phase, done in (("loading", 0), ("scoring", 1), ("scoring", 2)):
        tell(Progress(phase, done, 9, 0.0, None, 0, 1))
    told = read_progress(path)
    assert told is not None
    assert told.done == 1
    assert told.left_s(told.at) is None
    for place, name in enumerate(("first", "second"), 1):  # a model that takes minutes is named from its beginning
        tell(Progress("loading", 0, 9, 0.0, None, 0, 1, name, place, 2))
    told = read_progress(path)
    assert told is not None
    assert told.doing == "loading second, 2 of 2"


def test_a_disk_that_refuses_progress_does_not_stop_the_audit(tmp_path: Path) -> None:
    (tmp_path / "no").write_text("a file, and no folder")
    ProgressFile(tmp_path / "no" / "p.json")(Progress("loading", 0, 1, 0.0, None, 0, 1))
    assert read_progress(tmp_path / "no" / "p.json") is None
    assert (tmp_path / "no").read_text() == "a file, and no folder"


SOUND = '{"phase": "scoring", "done": 1, "total": 2, "elapsed_s": 0, "eta_s": 1, "shard": 0, "shards": 1, "at": 0}'
SPOILT = [SOUND.replace(*change) for change in (("scoring", "x"), ("1", "-1"), ("1", '"1"'), ('_s": 1', '_s": NaN'))]


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"phase": "scoring"}', "[" * 50_000, SOUND[:-5], *SPOILT])
def test_progress_that_makes_no_sense_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(SOUND, encoding="utf-8")
    assert read_progress(path) is not None
    path.write_text(text, encoding="utf-8")
    assert read_progress(path) is None


def test_the_share_of_nothing_is_nothing() -> None:
    assert Told("scoring", 0, 0, 0.0, None, 0, 0, at=0.0).share == 0


@pytest.mark.parametrize(
    "patterns",
    [
        ["all"],
        ["default"],
        ["spatial"],
        ["null", "societal"],
        ["rotate+5", "blur"],
        ["default", "distance"],
        ["lexical-sweep", "masking"],
        ["directional", "vflip"],
    ],
)
def test_short_patterns_mean_the_very_same_probes(patterns: list[str]) -> None:
    names = {probe.name for probe in select(patterns)}
    short = short_patterns(names)
    assert {probe.name for probe in select(short)} == names
    assert len(short) <= len(names)
    assert short_patterns([]) == ()
    assert short_patterns(catalogue().names()) == ("all",)
