"""Benches of the Probe lab: whoever waits holds no variants, and of those that made some the latest few keep them."""

import gc
import weakref
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.probes.base import Variant
from core.probes.registry import catalogue
from core.scoring.workbench import Workbench, in_memory_item
from pages.views.probe_lab.lab_state import WITH_VARIANTS, Shared, shared
from tests.pages.opening import LAB, Open

MANY = 3 * WITH_VARIANTS
FLIP = catalogue().get("vflip")


@pytest.fixture
def fresh() -> Iterator[Shared]:
    st.cache_resource.clear()
    yield shared()
    st.cache_resource.clear()


def bench(held: Shared, number: int) -> Workbench:
    pixels = np.full((80, 100, 3), number, np.uint8)
    return held.bench(number, in_memory_item(pixels), lambda: pixels)


def holding(benches: list[Workbench]) -> list[int]:
    return [number for number, each in enumerate(benches) if each._made]


def test_a_picture_that_waits_takes_nobody_s_variants(fresh: Shared) -> None:
    first = bench(fresh, 0)
    first.make(FLIP)
    waiting = [bench(fresh, number) for number in range(1, MANY)]
    assert first._made
    assert bench(fresh, 0) is first
    assert holding(waiting) == []


def test_the_latest_few_that_made_variants_keep_them_whoever_still_holds_the_others(fresh: Shared) -> None:
    benches = [bench(fresh, number) for number in range(MANY)]
    for each in benches:
        each.make(FLIP)
    assert holding(benches) == [*range(MANY - WITH_VARIANTS, MANY)]
    again = benches[0].make(FLIP)  # as a file that is asked for on a page of before
    assert holding(benches) == [0, *range(MANY - WITH_VARIANTS + 1, MANY)]
    assert isinstance(again, Variant)
    assert np.array_equal(np.asarray(again.pixels), np.zeros((80, 100, 3), np.uint8))
    benches[-1].make(FLIP)  # that was made already and changes nothing
    assert holding(benches) == [0, *range(MANY - WITH_VARIANTS + 1, MANY)]


def test_a_bench_that_fell_off_its_shelf_lets_go_of_its_variants_like_any_other(fresh: Shared) -> None:
    first = bench(fresh, 0)
    for number in range(1, 100):
        bench(fresh, number)
    assert bench(fresh, 0) is not first
    first.make(FLIP)
    for number in range(200, 200 + WITH_VARIANTS):
        bench(fresh, number).make(FLIP)
    assert not first._made


def test_what_makes_the_files_of_an_open_page_holds_no_variants_and_makes_them_again(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared.clear()
    makers = list[Callable[[], bytes]]()

    def noted(_: DeltaGenerator, label: str, data: Callable[[], bytes], *rest: object, **told: object) -> None:
        makers.append(data)

    monkeypatch.setattr(DeltaGenerator, "download_button", noted)
    monkeypatch.setattr(st, "download_button", partial(noted, st._main))
    app = open_page(LAB, evaluators="grounding-judge", probes="vflip,hflip")
    assert not app.exception
    before = [make() for make in makers]
    assert len(before) == 5
    (bench,) = shared().benches._values.values()
    arrays = [weakref.ref(each.pixels) for each in bench._made.values() if isinstance(each, Variant)]
    assert len(arrays) == 2
    bench.forget()
    gc.collect()
    assert [each() is None for each in arrays] == [True] * len(arrays)
    assert [make() for make in makers] == before
