import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.audit.run import run_audit
from core.corpora.item_pictures import read_item
from core.corpora.schema import Box
from core.errors import InvalidInput, ProbeRejected
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import Pool
from core.features.lab.lab import LabRow, run_lab, see
from core.probes.base import IDENTITY, Axis, Edits, Expectation, Probe, Subject, Variant
from core.probes.registry import select
from core.probes.scene import Scene
from core.probes.words.templates import base_caption
from core.scoring.workbench import Workbench, format_box, in_memory_item, parse_box, with_object
from core.statistics.changes import NullBand
from core.store.store import Store
from tests.audit.squares import build_corpus
from tests.plans import make_plan
from tests.plugins.histogram import caption_vector, image_vector
from tests.tiny.clip import write_openai

PLUGIN = f"{Path(__file__).parents[1] / 'plugins' / 'histogram.py'}:"
DUAL, PAIRED, ENGLISH = PLUGIN + "Histogram", PLUGIN + "PairedHistogram", PLUGIN + "EnglishHistogram"
CAPTION = "There is a bicycle."


@pytest.fixture
def pixels() -> np.ndarray:
    return np.random.default_rng(7).integers(0, 255, (96, 128, 3), dtype=np.uint8)


@pytest.fixture
def bench(pixels: np.ndarray) -> Workbench:
    return Workbench(in_memory_item(pixels, label="bicycle", category="vehicle"), pixels)


@pytest.fixture
def pool() -> Pool:
    return Pool(budget_mb=100, device="cpu")


def darker(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    return Variant("darker", pixels=scene.pixels // 2)


def refuse(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    raise ProbeRejected("collision", "it would cover the dog")


def burst(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    raise ZeroDivisionError("someone's slip")


def edit(name: str, make: object) -> Probe:
    return Probe(name, Axis.SPATIAL, name, Expectation.INVARIANT, Edits.IMAGE, "An edit.", make)  # type: ignore[arg-type]


DARKER, REFUSED, BURST = edit("darker", darker), edit("refused", refuse), edit("burst", burst)


def test_a_shift_is_the_difference_of_two_scores_of_the_same_evaluator(
    bench: Workbench, pixels: np.ndarray, pool: Pool
) -> None:
    result = run_lab(bench, CAPTION, [DARKER], [DUAL], pool=pool)
    (row,) = (row for row in result.rows if row.probe == "darker")
    text = caption_vector(CAPTION).astype(float)
    before, after = image_vector(pixels).astype(float) @ text, image_vector(pixels // 2).astype(float) @ text
    assert row.baseline_score == pytest.approx(before)
    assert row.score == pytest.approx(after)
    assert row.delta == pytest.approx(after - before)
    assert row.percent == pytest.approx(100 * (after - before) / before)


def test_the_identity_comes_first_and_does_not_move(bench: Workbench, pool: Pool) -> None:
    first = run_lab(bench, CAPTION, [DARKER], [DUAL], pool=pool).rows[0]
    assert (first.probe, first.delta, first.percent, first.axis) == (IDENTITY, 0.0, 0.0, None)


def test_dual_encoders_and_pair_by_pair_evaluators_agree(bench: Workbench, pool: Pool) -> None:
    probes = [DARKER, *select(["vertical-flip", "cultural"])]
    result = run_lab(bench, CAPTION, probes, [DUAL, PAIRED], pool=pool)
    dual, paired = result.of(DUAL), result.of(PAIRED)
    assert [row.probe for row in dual] == [row.probe for row in paired]
    for one, other in zip(dual, paired, strict=True):
        assert one.score == pytest.approx(other.score)


def test_nothing_is_scored_that_nobody_chose(bench: Workbench, pool: Pool) -> None:
    result = run_lab(bench, CAPTION, [], [DUAL], pool=pool)
    assert [row.probe for row in result.rows] == [IDENTITY]
    assert result.evaluators == (DUAL,)


def test_a_rejected_probe_keeps_its_row_and_reason_and_the_rest_goes_on(bench: Workbench, pool: Pool) -> None:
    rows = {row.probe: row for row in run_lab(bench, CAPTION, [REFUSED, DARKER], [DUAL], pool=pool).rows}
    assert rows["refused"].rejected
    assert rows["refused"].reason == "it would cover the dog"
    assert rows["refused"].score is None
    assert rows["darker"].score is not None


def test_a_strangers_probe_that_raises_is_named_and_the_rest_goes_on(bench: Workbench, pool: Pool) -> None:
    rows = {row.probe: row for row in run_lab(bench, CAPTION, [BURST, DARKER], [DUAL], pool=pool).rows}
    assert "someone's slip" in rows["burst"].reason
    assert rows["darker"].score is not None


def test_a_modified_caption_is_compared_with_its_length_matched_neutral(bench: Workbench, pool: Pool) -> None:
    (probe,) = select(["cultural:African"])
    rows = run_lab(bench, "something else", [probe], [DUAL], pool=pool).rows
    (row,) = (row for row in rows if row.probe == probe.name)
    assert row.caption == "There is an African bicycle."
    assert row.baseline in {"cultural:typical", "cultural:plain", "cultural:ordinary"}
    assert row.baseline_caption is not None
    assert row.baseline_caption.removeprefix("There is ").endswith("bicycle.")
    assert row.baseline_caption != base_caption("bicycle")


def test_an_image_edit_keeps_the_subject_caption(bench: Workbench, pool: Pool) -> None:
    rows = run_lab(bench, "a quiet street", [DARKER], [DUAL], pool=pool).rows
    assert {row.caption for row in rows} == {"a quiet street"}


def test_caption_probes_of_an_item_without_label_are_left_out_with_a_reason(pixels: np.ndarray, pool: Pool) -> None:
    nameless = Workbench(in_memory_item(pixels), pixels)
    (probe,) = select(["cultural:African"])
    rows = run_lab(nameless, "a quiet street", [probe, DARKER], [DUAL], pool=pool).rows
    by_name = {row.probe: row for row in rows}
    assert by_name[probe.name].rejected
    assert by_name[probe.name].reason
    assert by_name["darker"].score is not None


def test_an_evaluator_that_cannot_run_is_told_and_the_others_go_on(bench: Workbench, pool: Pool) -> None:
    result = run_lab(bench, CAPTION, [DARKER], ["no-such-evaluator", DUAL], pool=pool)
    assert "no-such-evaluator" in result.failures["no-such-evaluator"]
    assert result.evaluators == (DUAL,)


def test_a_caption_in_a_language_that_an_evaluator_does_not_read_is_refused_by_it_alone(
    pixels: np.ndarray, pool: Pool
) -> None:
    item = replace(in_memory_item(pixels, label="bicycle"), captions={"de": ("Ein Fahrrad.",)})
    result = run_lab(Workbench(item, pixels), "Ein Fahrrad.", [DARKER], [ENGLISH, DUAL], pool=pool)
    assert set(result.failures) == {ENGLISH}
    assert "english-histogram reads en and not de" in result.failures[ENGLISH]
    assert result.evaluators == (DUAL,)
    assert not run_lab(Workbench(item, pixels), "My own words.", [DARKER], [ENGLISH], pool=pool).failures


def test_a_pair_that_cannot_be_scored_is_null_with_its_error(bench: Workbench, pool: Pool) -> None:
    rows = run_lab(bench, "poison", [DARKER], [DUAL], pool=pool).rows
    assert all(row.score is None for row in rows)
    assert all("cannot read" in row.reason for row in rows)
    assert all(row.in_null_band is None for row in rows)


@pytest.mark.parametrize("caption", ["", "   ", "\n\t"])
def test_an_empty_caption_is_refused(bench: Workbench, pool: Pool, caption: str) -> None:
    with pytest.raises(InvalidInput, match="caption is empty"):
        run_lab(bench, caption, [DARKER], [DUAL], pool=pool)


def test_a_second_run_encodes_nothing_again(bench: Workbench, pool: Pool) -> None:
    cache = EmbeddingCache()
    first = run_lab(bench, CAPTION, [DARKER], [DUAL], pool=pool, cache=cache)
    with pool.lease(DUAL) as evaluator:
        calls = len(evaluator.image_calls)  # type: ignore[attr-defined]
    second = run_lab(bench, CAPTION, [DARKER], [DUAL], pool=pool, cache=cache)
    with pool.lease(DUAL) as evaluator:
        assert len(evaluator.image_calls) == calls  # type: ignore[attr-defined]
    assert first.rows == second.rows
    (before, asked), (known, again) = first.known[DUAL], second.known[DUAL]
    images = 1 + 1
    captions = len({row.caption for row in first.rows if row.caption})
    assert (before, asked) == (0, images + captions)
    assert (known, again) == (asked, asked)


def test_every_evaluator_may_have_a_cache_of_its_own(bench: Workbench, pool: Pool) -> None:
    caches = {DUAL: EmbeddingCache(), PAIRED: EmbeddingCache()}
    for _ in range(2):
        found = run_lab(bench, CAPTION, [DARKER], [DUAL, PAIRED], pool=pool, cache=caches.__getitem__)
    assert all(known == asked > 0 for known, asked in found.known.values())
    assert found.known.keys() == caches.keys()


def test_the_image_is_never_changed(bench: Workbench, pixels: np.ndarray, pool: Pool) -> None:
    before = pixels.copy()
    run_lab(bench, CAPTION, select(["spatial", "null"]), [DUAL], pool=pool)
    assert (pixels == before).all()


def test_two_benches_of_one_image_give_the_same_variants(pixels: np.ndarray) -> None:
    item = in_memory_item(pixels, label="bicycle")
    one, other = Workbench(item, pixels), Workbench(item, pixels.copy())
    for probe in select(["spatial", "null"]):
        left, right = one.make(probe), other.make(probe)
        assert type(left) is type(right)
        if isinstance(left, Variant):
            assert one.image(left)[0] == other.image(right)[0]  # type: ignore[arg-type]


def test_the_json_can_be_read_back_and_has_no_invented_number(bench: Workbench, pool: Pool) -> None:
    result = run_lab(bench, CAPTION, [DARKER, REFUSED], [DUAL, "no-such-evaluator"], pool=pool)
    told = json.loads(result.as_json())
    assert told["caption"] == CAPTION
    assert told["evaluators"][DUAL]["name"] == "histogram"
    assert "no-such-evaluator" in told["failures"]
    (refused,) = (row for row in told["rows"] if row["probe"] == "refused")
    assert refused["score"] is None
    assert refused["percent"] is None


def test_the_table_has_a_row_a_probe_and_evaluator(bench: Workbench, pool: Pool) -> None:
    result = run_lab(bench, CAPTION, [DARKER], [DUAL, PAIRED], pool=pool)
    assert len(result.table()) == len(result.rows) == 2 * 2
    assert list(result.shifts(DUAL)["probe"]) == ["darker"]


def test_seeing_a_variant_tells_the_prompt_and_what_is_inside(bench: Workbench, pool: Pool) -> None:
    sight = see(bench, bench.variants([DARKER], CAPTION)["darker"], CAPTION, DUAL, pool=pool)
    assert sight.prompt == CAPTION
    assert sight.views[0][1].shape == bench.pixels.shape


def test_noise_is_told_by_a_run_of_the_same_evaluator_and_by_nothing_else(bench: Workbench, pool: Pool) -> None:
    with pool.lease(DUAL) as evaluator:
        key = evaluator.fingerprint.key
    band = NullBand(1e9, 700)
    told = {key: band, "of another": band}.get
    result = run_lab(bench, CAPTION, [*select(["null"]), DARKER], [DUAL, PAIRED], pool=pool, band_of=told)
    assert result.evaluators == (DUAL, PAIRED)
    assert result.bands == {DUAL: band}
    held, bare = (
        {(row.in_null_band, row.verdict) for row in result.of(name) if row.probe != IDENTITY} for name in (DUAL, PAIRED)
    )
    assert held == {(True, "within noise")}
    assert bare == {(None, "")}
    assert json.loads(result.as_json())["null_bands_percent"] == {DUAL: {"reach": 1e9, "n": 700}}


@pytest.mark.parametrize("baseline", [0.0, 1e-7, -1e-7])
def test_a_zero_baseline_has_a_delta_and_no_percent_change(baseline: float) -> None:
    zero = LabRow("vflip", "v", "spatial", "e", "c", IDENTITY, "c", baseline, 0.5)
    assert zero.zero_baseline
    assert zero.percent is None
    assert zero.delta == pytest.approx(0.5)


@given(st.integers(0, 90), st.integers(0, 70), st.integers(1, 100), st.integers(1, 100))
def test_a_box_is_read_as_it_was_written(x: int, y: int, width: int, height: int) -> None:
    inside = Box(x, y, width, height).inside(128, 96)
    assert inside is not None
    assert parse_box(format_box(inside), width=128, height=96) == inside


@pytest.mark.parametrize(
    "text", ["", "1,2,3", "1,2,3,4,5", "a,b,c,d", "nan,1,2,3", "inf,1,2,3", "0,0,0,5", "500,500,10,10", "1,2,3," * 999]
)
def test_a_text_that_is_no_box_inside_the_image_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_box(text, width=128, height=96)


def test_another_object_brings_its_box_and_mask(bench: Workbench) -> None:
    mask = np.zeros((96, 128), bool)
    mask[10:30, 20:60] = True
    item = with_object(bench.item, Box(20, 10, 40, 20), mask)
    assert item.box == Box(20, 10, 40, 20)
    assert item.mask is not None
    assert (item.mask.to_array() == mask).all()


def test_the_lab_finds_the_scores_that_an_audit_stored(tmp_path: Path, pool: Pool) -> None:
    corpus = build_corpus(tmp_path / "corpus", count=2)
    chosen = ["spatial", "cultural", "economic"]
    run_audit(make_plan(corpus, evaluators=[DUAL], probes=chosen), tmp_path / "runs", run_id="r", pool=pool)
    with Store.open(tmp_path / "runs") as store:
        stored = store.query("select * from shifts where score is not null")
    for item in corpus.items:
        bench = Workbench(item, read_item(item).pixels)
        result = run_lab(bench, base_caption(item.label or ""), select(chosen), [DUAL], pool=pool)
        lab = {each.probe: each for each in result.rows if not each.rejected}
        mine = stored[stored["item"] == item.id]
        compared = mine[mine["probe"].isin(list(lab))]
        assert len(compared) > 10
        for _, each in compared.iterrows():
            found = lab[each["probe"]]
            assert found.score == pytest.approx(each["score"], abs=1e-9), each["probe"]
            assert found.baseline == each["baseline"]
            assert found.delta == pytest.approx(each["delta"], abs=1e-9)


def test_where_memory_ran_short_the_result_says_so(bench: Workbench, tmp_path: Path) -> None:
    reference = f"clipscore@{write_openai(tmp_path / 'openai.pt')}"
    pool = Pool(700, "cpu:0")

    def full(*_: object) -> None:
        if runner.device == "cpu:0":
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    with pool.hold(reference):
        with pool.lease(reference) as evaluator:
            runner = evaluator._towers.image  # type: ignore[attr-defined]
            runner.network.visual.register_forward_pre_hook(full)
        result = run_lab(bench, CAPTION, [], [reference], pool=pool)
    assert not result.failures
    assert result.notes == {reference: "openai.pt: cpu:0 has no memory for a single input; going on on the CPU."}


def fewer_words(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    return Variant("fewer", caption=" ".join(subject.caption.split()[:2]))


@pytest.mark.parametrize(
    ("score", "inside", "dropped", "verdict"),
    [
        (0.4, False, True, "broken meaning: drops by more than noise"),
        (0.4, None, True, "broken meaning: drops"),
        (0.499, True, False, "broken meaning: drops by no more than noise"),
        (0.5, True, False, "broken meaning: does not drop"),
        (0.6, False, False, "broken meaning: does not drop"),
        (0.6, None, False, "broken meaning: does not drop"),
        (None, None, None, ""),
    ],
)
def test_a_score_drops_where_it_falls_by_more_than_invisible_edits_move_it(
    score: float | None, inside: bool | None, dropped: bool | None, verdict: str
) -> None:
    row = LabRow(
        "p", "p", "lexical", "e", "c", IDENTITY, "c", 0.5, score, in_null_band=inside, expectation="directional"
    )
    assert (row.dropped, row.verdict) == (dropped, verdict)


def test_a_probe_that_breaks_the_meaning_says_whether_the_score_dropped(bench: Workbench, pool: Pool) -> None:
    fewer = Probe("fewer", Axis.LEXICAL, "fewer", Expectation.DIRECTIONAL, Edits.CAPTION, "Fewer words.", fewer_words)
    rows = {each.probe: each for each in run_lab(bench, CAPTION, [fewer, DARKER], [DUAL], pool=pool).rows}
    broken = rows["fewer"]
    assert broken.delta is not None
    assert broken.dropped is (broken.delta < 0 and not broken.in_null_band)
    assert (rows["darker"].dropped, rows[IDENTITY].dropped, rows[IDENTITY].expectation) == (None, None, None)
    table = run_lab(bench, CAPTION, [fewer], [DUAL], pool=pool).table().set_index("probe")
    assert table.loc["fewer", "expectation"] == "directional"
    assert table.loc["fewer", "dropped"] == broken.dropped


def test_the_caption_that_a_word_is_compared_with_is_told_once_unless_evaluators_differ(
    bench: Workbench, pool: Pool
) -> None:
    (probe,) = select(["cultural:African"])
    result = run_lab(bench, CAPTION, [probe, DARKER], [DUAL, PAIRED], pool=pool)
    (row, other) = (each for each in result.rows if each.probe == probe.name)
    assert result.compared_with(probe.name) == row.baseline_caption == other.baseline_caption
    assert result.compared_with("darker") == ""
    longer = replace(other, baseline_caption="There is an everyday bicycle.")
    apart = replace(result, rows=(row, longer))
    assert apart.compared_with(probe.name) == (
        f"{row.baseline_caption} ({DUAL}); There is an everyday bicycle. ({PAIRED})"
    )
