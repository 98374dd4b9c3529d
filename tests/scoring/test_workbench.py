"""A bench that forgot its variants makes the same again."""

import gc
import weakref

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import Variant
from core.probes.registry import select
from core.scoring.workbench import Workbench, in_memory_item
from pages.views.common.open_runs import Shelf

_PIXELS = np.random.default_rng(3).integers(0, 255, (60, 80, 3), dtype=np.uint8)


def _bench() -> Workbench:
    return Workbench(in_memory_item(_PIXELS, label="bicycle"), _PIXELS)


def _made(bench: Workbench, name: str) -> Variant:
    made = bench.make(select([name])[0])
    assert isinstance(made, Variant)
    return made


def test_what_was_forgotten_is_let_go_and_made_again_with_the_same_pixels() -> None:
    bench = _bench()
    before = _made(bench, "rotate+10")
    assert _made(bench, "rotate+10") is before
    hashed = bench.image(before)[0]
    assert before.pixels is not None
    pixels, held = before.pixels.copy(), weakref.ref(before.pixels)
    bench.forget()
    del before
    assert held() is None
    after = _made(bench, "rotate+10")
    assert bench.image(after)[0] == hashed
    np.testing.assert_array_equal(after.pixels, pixels)


def test_a_bench_with_a_rejected_probe_is_let_go_at_once() -> None:
    """The traceback of a kept rejection would hold the bench, its pictures and itself until a collection."""
    bench = _bench()
    gc.collect()
    gc.disable()
    try:
        made = bench.make(select(["reposition-TL"])[0])
        assert isinstance(made, ProbeRejected)
        assert made.__traceback__ is None
        assert made.__context__ is None
        held = weakref.ref(bench.scene)
        del bench, made
        assert held() is None
    finally:
        gc.enable()


def test_a_shelf_tells_what_leaves_it() -> None:
    left: list[str] = []
    shelf = Shelf[str](2, left.append)
    for word in ("one", "two"):
        shelf.put(word, word)
    assert shelf.get("one") == "one"
    shelf.put("three", "three")
    assert left == ["two"]
    assert shelf.get("two") is None
