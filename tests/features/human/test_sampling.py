import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.corpora.images import encode_png, read_image
from core.corpora.registry import catalogue
from core.errors import InvalidInput, StoreError
from core.features.human.creation import make_pictures, planned_precision
from core.features.human.definition import ORIGINAL, VARIANT, Definition, StudyItem, read_definition
from core.features.human.kinds import ACCEPTABILITY, KINDS, PAIRED_RATING, SINGLE, Kind
from core.features.human.sampling import (
    PAPER_STRATA,
    Sample,
    _draw,
    candidates,
    draw_sample,
    family_strata,
    inclusion,
    largest_total,
    strata_named,
    targets,
)
from core.probes.registry import further_readings
from core.settings import ROOT
from core.statistics.power import items_for_share, items_within, smallest_share, widest_agreement, widest_half
from core.store.store import Store
from tests.analysis.made_runs import score, write_run
from tests.features.human.small_study import define, make


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with Store.open(ROOT / "data" / "results") as opened:
        yield opened


def test_the_papers_480_are_160_spatial_160_control_160_societal() -> None:
    assert targets(PAPER_STRATA, 480) == (80, 40, 40, 80, 80, 40, 40, 40, 40)
    assert sum(targets(PAPER_STRATA, 37)) == 37


def test_what_is_short_is_told_and_not_filled(store: Store) -> None:
    sample = draw_sample(store, "demo", kind=ACCEPTABILITY, total=480, seed=3)
    for name, target, available, taken in sample.strata:
        assert taken == min(target, available), name
    plain = [item for item in sample.items if not item.attention]
    assert Counter(item.stratum for item in plain) == {name: taken for name, _, _, taken in sample.strata if taken}
    assert sample.shortfall == 480 - len(plain) > 0
    bins = dict(store.query("select item, coverage_bin from items").itertuples(index=False))
    assert {bins[item.item] for item in plain if item.stratum == "blur, smallest objects"} == {"0-10"}
    assert {bins[item.item] for item in plain if item.stratum == "blur, largest objects"} == {"90-100"}


def test_within_a_stratum_an_item_comes_once_and_ids_tell_nothing(store: Store) -> None:
    sample = draw_sample(store, "demo", kind=ACCEPTABILITY, total=100, seed=3)
    drawn = Counter((item.stratum, item.item) for item in sample.items if not item.attention)
    assert set(drawn.values()) == {1}
    assert [item.id for item in sample.items] == [f"{number:04d}" for number in range(1, len(sample.items) + 1)]
    assert len({item.family for item in sample.items[:30]}) > 3


def test_an_item_names_its_cut_out_and_its_background(store: Store) -> None:
    told = store.query("select item, item_group, second_group from items where run = 'demo'").set_index("item")
    items = draw_sample(store, "demo", kind=ACCEPTABILITY, total=60, seed=1).items
    for item in (each for each in items if not each.attention):
        assert [item.source, item.second_source] == [each or None for each in told.loc[item.item].fillna("")]
    assert any(item.second_source for item in items)


def test_the_same_seed_draws_the_same_and_another_draws_another(store: Store) -> None:
    one, same, other = (draw_sample(store, "demo", kind=ACCEPTABILITY, total=60, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.items != other.items


def test_the_largest_total_without_a_shortfall_has_none_and_one_more_has(store: Store) -> None:
    total = largest_total(store, "demo")
    assert draw_sample(store, "demo", kind=ACCEPTABILITY, total=total, seed=1).shortfall == 0
    assert draw_sample(store, "demo", kind=ACCEPTABILITY, total=total + 1, seed=1).shortfall > 0


def test_captions_differ_where_the_caption_is_edited_and_only_there(store: Store) -> None:
    for item in draw_sample(store, "demo", kind=ACCEPTABILITY, total=80, seed=1).items:
        assert (item.original_caption != item.variant_caption) == (item.edits == "caption")
        assert item.edits == "image" or item.attention or item.baseline.split(":")[0] == item.probe.split(":")[0]


def test_attention_items_name_what_the_picture_is_not_said_to_show(store: Store) -> None:
    present = {item: {"bed"} for item in store.query("select distinct item from items")["item"]}
    sample = draw_sample(store, "demo", kind=ACCEPTABILITY, total=100, seed=1, present=present)
    checks = [item for item in sample.items if item.attention]
    assert len(checks) >= 5
    assert all(check.original_caption != check.variant_caption for check in checks)
    assert not any(" bed." in check.variant_caption for check in checks)


def test_single_images_show_each_version_of_a_pair_once(store: Store) -> None:
    sample = draw_sample(store, "demo", kind=SINGLE, total=20, seed=1)
    plain = [item for item in sample.items if not item.attention]
    assert len(plain) == 2 * sum(taken for *_, taken in sample.strata)
    assert Counter(item.shows for item in plain)["original"] == len(plain) // 2
    assert [example.value for example in sample.examples] == [4, 2, 1]


def test_families_can_be_chosen_instead(store: Store) -> None:
    sample = draw_sample(store, "demo", kind=ACCEPTABILITY, total=10, seed=1, strata=family_strata(["blur", "gender"]))
    assert Counter(item.family for item in sample.items if not item.attention) == {"blur": 5, "gender": 5}


@pytest.mark.parametrize(("run", "total", "said"), [("none", 10, "no pairs"), ("demo", 0, "1 to 20000")])
def test_what_cannot_be_drawn_is_one_sentence(store: Store, run: str, total: int, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        draw_sample(store, run, kind=ACCEPTABILITY, total=total, seed=1)
    with pytest.raises(InvalidInput, match="no family"):
        family_strata([])


def comparisons_of(store: Store, run: str, *families: str, kind: Kind = PAIRED_RATING, total: int = 24) -> Sample:
    return draw_sample(store, run, kind=kind, total=total, seed=1, strata=family_strata(directional=families))


def plain(sample: Sample) -> list[StudyItem]:
    return [item for item in sample.items if not item.attention]


def test_directional_families_give_right_and_wrong_sides_of_stored_comparisons(store: Store) -> None:
    sample = comparisons_of(store, "demo-scenes", "foil", "mention-negated", "mention-shuffled")
    assert [row[0] for row in sample.strata] == [
        "foil, directional",
        "mention-negated, directional",
        "mention-shuffled, directional",
    ]
    stored = store.query(
        "select item, probe, subject, caption, baseline, baseline_caption from shifts where run = 'demo-scenes' "
        "and expectation = 'directional' and language = 'en'"
    ).set_index(["item", "probe", "subject"])
    for item in plain(sample):
        row = stored.loc[(item.item, item.probe, item.subject)].iloc[0]
        assert (item.original_caption, item.variant_caption) == (row["baseline_caption"], row["caption"])
        assert item.baseline == row["baseline"]
        assert item.directional
        assert item.edits == "caption"


def test_a_rival_s_picture_is_the_wrong_side_of_one_caption(store: Store) -> None:
    sample = comparisons_of(store, "demo-prototypes", "prototype")
    probes = {item.probe for item in plain(sample)}
    assert probes == {"prototype:knob-wrong", "prototype:adversary"}  # the prototype itself fits the text as well
    for item in plain(sample)[:3]:
        assert (item.edits, item.baseline) == ("image", "identity")
        made = make_pictures(define(run="demo-prototypes", items=(item,)), item)
        assert made.original != made.variant
        rivals = catalogue().get("demo-prototypes").load(None).get(item.item).rivals
        assert any(made.variant == encode_png(read_image(rival.path).pixels) for rival in rivals)


def test_a_family_of_both_kinds_is_drawn_from_by_the_kind_that_was_asked_for(store: Store) -> None:
    both = draw_sample(
        store,
        "demo-prototypes",
        kind=ACCEPTABILITY,
        total=20,
        seed=1,
        strata=family_strata(["prototype"], ["prototype"]),
    )
    of = {(item.stratum, item.expectation) for item in plain(both)}
    assert of == {("prototype", "invariant"), ("prototype, directional", "directional")}


def test_candidates_leave_out_controls_responses_further_readings_and_other_languages(store: Store) -> None:
    for run in ("demo-scenes", "demo-captions"):
        pairs = candidates(store, run)
        assert set(pairs["expectation"]) == {"invariant", "directional"}
        assert set(pairs["language"]) == {"en"}
        assert not set(pairs.loc[pairs["expectation"] == "directional", "probe"]) & further_readings()
        assert not set(pairs["probe"]) & {"mention:2", "size:large", "affirmation:template"}
        assert not pairs.duplicated(["corpus", "item", "probe"]).any()


def test_a_further_reading_of_an_edit_is_not_drawn_from(tmp_path: Path) -> None:
    about = {"family": "removal", "subject": "human", "axis": "lexical", "baseline": "identity"}
    rows = [
        score(f"i{place}", name, 0.5, caption=f"{name} {place}", **told)
        for place in range(3)
        for name, told in (
            ("identity", {"subject": "human"}),
            ("removal", {**about, "expectation": "directional"}),
            ("removal:p0.1", {**about, "expectation": "directional"}),
        )
    ]
    with Store.open(write_run(tmp_path / "r", rows)) as opened:
        assert set(candidates(opened, "r")["probe"]) == {"removal"}


def test_the_paper_s_strata_hold_no_comparison_whatever_else_the_run_holds(store: Store) -> None:
    sample = draw_sample(store, "demo-scenes", kind=ACCEPTABILITY, total=60, seed=1)
    assert plain(sample)
    assert not any(item.directional for item in sample.items)


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_no_comparison_is_met_again_as_an_attention_item_or_told_by_an_example(store: Store, kind: Kind) -> None:
    whole = ("absent-category", "foil", "mention-negated", "negation")
    for total in (24, 240):  # the second asks about every picture
        sample = comparisons_of(store, "demo-scenes", *whole, kind=kind, total=total)
        asked = plain(sample)
        sides = {(item.item, item.caption(version)) for item in asked for version in (ORIGINAL, VARIANT)}
        checks = [item for item in sample.items if item.attention]
        assert checks
        assert not any(item.directional or item.probe != "identity" for item in checks)
        for check in checks:
            shown = (ORIGINAL, VARIANT) if check.shows == "pair" else (check.shows,)
            assert not sides & {(check.item, check.caption(version)) for version in shown}
        assert not {each.item for each in sample.examples} & {item.item for item in asked}
        assert len(sample.examples) == (3 if total == 24 else 0)


def test_ids_and_order_do_not_tell_the_right_side(store: Store) -> None:
    single = plain(comparisons_of(store, "demo-scenes", "foil", "order", kind=SINGLE, total=60))
    first = {}
    for item in single:
        first.setdefault((item.item, item.probe), item.shows)
    earlier = Counter(first.values())
    assert min(earlier["original"], earlier["variant"]) > len(first) / 4


def test_the_side_that_stands_left_is_random_and_stays(store: Store) -> None:
    definition = define(kind="preference", items=comparisons_of(store, "demo-scenes", "foil", "order", total=60).items)
    left = [definition.left_version(name, item.id) for name in ("a01", "a02") for item in plain_of(definition)]
    assert 0.35 < left.count(ORIGINAL) / len(left) < 0.65
    assert left == [definition.left_version(name, item.id) for name in ("a01", "a02") for item in plain_of(definition)]


def plain_of(definition: Definition) -> list[StudyItem]:
    return [item for item in definition.items if not item.attention]


def test_a_family_named_attention_makes_no_attention_item(tmp_path: Path) -> None:
    rows = [
        score(f"i{place}", name, 0.5, family="attention", caption=f"{name} {place}", **told)
        for place in range(4)
        for name, told in (("identity", {}), ("odd", {"baseline": "identity", "axis": "spatial"}))
    ]
    with Store.open(write_run(tmp_path / "r", rows)) as opened:
        sample = draw_sample(opened, "r", kind=ACCEPTABILITY, total=4, seed=1, strata=family_strata(["attention"]))
    assert len(plain(sample)) == 4


def test_a_family_that_the_run_does_not_hold_is_answered_with_those_that_it_does(store: Store) -> None:
    with pytest.raises(InvalidInput, match=r"its invariant families: .*vertical-flip; its directional ones: none"):
        comparisons_of(store, "demo", "negation")
    with pytest.raises(InvalidInput, match=r"its directional ones: prototype$"):
        draw_sample(store, "demo-prototypes", kind=SINGLE, total=5, seed=1, strata=family_strata(["negation"]))


def test_a_definition_that_changed_by_a_letter_is_refused(tmp_path: Path) -> None:
    path = make(tmp_path).folder / "study.json"
    text = path.read_text()
    assert read_definition(path.parent)
    path.write_text(text.replace('"seed": ', '"seed": 1', 1))
    with pytest.raises(StoreError, match="not as it was when the study was created"):
        read_definition(path.parent)


def test_a_study_of_before_comparisons_reads_as_it_was(tmp_path: Path) -> None:
    study = make(tmp_path)
    path = study.folder / "study.json"
    told = json.loads(path.read_text())
    del told["sha256"]
    for item in told["items"]:
        for name in ("expectation", "language", "rank", "source", "second_source"):
            del item[name]
    path.write_text(json.dumps(told))
    read = read_definition(study.folder)
    assert read == study.definition
    assert not any(item.directional for item in read.items)


def test_a_study_without_a_share_of_known_answers_has_none(store: Store) -> None:
    for rate in (0.0, 0.05):
        sample = draw_sample(store, "demo", kind=ACCEPTABILITY, total=20, seed=3, attention_rate=rate)
        assert any(each.attention for each in sample.items) == (rate > 0)


def test_one_stratum_draws_every_item_alike() -> None:
    (found,) = inclusion([np.arange(20)], [5])
    np.testing.assert_allclose(found, 0.25)


def test_items_of_an_earlier_stratum_come_last() -> None:
    """The first takes 2 of items 0 to 3; the second wants 4 of 0 to 5: 4 and 5, and the two that were not taken."""
    first, second = inclusion([np.arange(4), np.arange(6)], [2, 4])
    np.testing.assert_allclose(first, 0.5)
    np.testing.assert_allclose(second, [0.5, 0.5, 0.5, 0.5, 1, 1])


def test_it_is_how_the_sampler_draws() -> None:
    """Drawn 600 times by the sampler of studies, each item comes about as often as said."""
    held = [np.arange(12), np.arange(6, 18), np.arange(0, 18, 2)]
    taken = [5, 6, 4]
    counts = [np.zeros(18) for _ in held]
    for seed in range(600):
        used: set[str] = set()
        for number, places in enumerate(held):
            rows = pd.DataFrame({"corpus": "c", "item": [str(place) for place in places], "probe": "p"})
            drawn = _draw(rows, taken[number], used, seed=seed, name=f"s{number}")
            used |= set(drawn["item"])
            counts[number][drawn["item"].astype(int)] += 1
    for found, places, count in zip(inclusion(held, taken), held, counts, strict=True):
        np.testing.assert_allclose(found, count[places] / 600, atol=0.08)
        assert np.isclose(found.sum(), count.sum() / 600)


def test_the_strata_of_a_study_are_known_by_their_names() -> None:
    assert strata_named([each.name for each in PAPER_STRATA]) == PAPER_STRATA
    chosen = family_strata(["rotation", "blur"], ["foil"])
    assert strata_named([each.name for each in chosen]) == chosen


def test_shares_agreement_and_preference_are_told_with_n_and_source() -> None:
    shares, agreed, preferred = planned_precision(ACCEPTABILITY, items=100, annotators=3)
    assert f"±{100 * widest_half(100):.1f} points at worst" in shares
    assert "A share of 100 items" in shares
    assert f"±{100 * widest_agreement(100, 3, 3):.1f} points" in agreed
    assert f"{100 * smallest_share(100):.0f} % of the items lean" in preferred
    assert f"With half of them ties it takes {100 * smallest_share(50):.0f} %." in preferred
    assert "sign test over items" in preferred
    assert f"±5.0 points take {items_within(0.05)}." in shares
    assert f"{items_for_share(0.6)} items that lean would tell 60 %" in preferred


def test_more_annotators_narrow_no_share_and_more_items_do() -> None:
    def half(items: int, annotators: int) -> float:
        said = planned_precision(ACCEPTABILITY, items=items, annotators=annotators)[0]
        return float(re.search(r"±([\d.]+)", said)[1])  # type: ignore[index]

    assert half(100, 3) == half(100, 9)
    assert half(400, 3) < half(100, 3)


@pytest.mark.parametrize(("kind", "sentences"), [(SINGLE, 1), (PAIRED_RATING, 3), (ACCEPTABILITY, 3)])
def test_a_study_says_only_what_its_kind_asks_for(kind: object, sentences: int) -> None:
    assert len(planned_precision(kind, items=50, annotators=2)) == sentences  # type: ignore[arg-type]


def test_one_annotator_and_a_handful_of_items_are_told_to_be_too_few() -> None:
    said = " ".join(planned_precision(ACCEPTABILITY, items=4, annotators=1))
    assert "no item has a majority" in said
    assert "no agreement to speak of" in said
    assert "too few for any preference" in said
