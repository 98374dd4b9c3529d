from collections import Counter
from collections.abc import Iterator

import pytest

from core.errors import InvalidInput
from core.human.kinds import ACCEPTABILITY, SINGLE
from core.human.sampling import PAPER_STRATA, draw_sample, family_strata, largest_total, targets
from core.settings import ROOT
from core.store.store import Store


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
