"""An evaluator of a file, loaded in its own process: the same answers, and the server stays whole."""

import gc
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from core import registry
from core.errors import InvalidInput, NotAvailable, ScoringStopped
from core.evaluators.base import DualEncoder, Evaluator
from core.evaluators.pool import Pool
from core.evaluators.registry import find
from core.evaluators.remote import MetricFailed, Remote, pack, unpack
from core.evaluators.scoring import score_pairs_with_errors
from core.evaluators.towers.encoder import PublishedEncoder
from tests.audit.squares import HISTOGRAM, PAIRED
from tests.plugins.histogram import POISON

OWN = """import os, time
import numpy as np
from core.corpora.schema import Box
from core.errors import ScoringStopped
from core.evaluators.base import Evaluator, Fingerprint, PartlyScored, Sight, evaluator

@evaluator(name="own", title="Own", summary="Own.", family="test", score_range=(0.0, 1.0), memory_mb=1, offline=True,
           source="none", licence="Apache-2.0")
class Own(Evaluator):
    @classmethod
    def load(cls, *, device="cpu"):
        print("noise on the way out")
        return cls()

    @property
    def fingerprint(self):
        return Fingerprint("own", "none", "none", "float64", {"a": "1"}, {"b": [1, 2]})

    @property
    def full_batch(self):
        return 5

    def crop(self, width, height):
        return Box(1, 2, width - 3, height - 4)

    def count_tokens(self, caption):
        return len(caption.split())

    def truncates(self, caption):
        return len(caption) > 10

    def see(self, image, caption, *, object_mask=None):
        share = None if object_mask is None else float(object_mask.to_array().mean())
        return Sight((("half", image[::2, ::2]),), self.crop(9, 9), caption.upper(), "cut", 3, share, (("cat", 0.5),),
                     ("a note",))

    def score(self, images, captions):
        print("noise")
        for caption in captions:
            if caption == "crash":
                os._exit(3)
            if caption == "sleep":
                time.sleep(60)
            if caption == "stop":
                raise ScoringStopped("the budget is spent")
            if caption == "raise":
                raise KeyError("no such word")
        if "partly" in captions:
            scores = np.array([np.nan if each == "partly" else 0.5 for each in captions])
            raise PartlyScored(scores, ["cannot read it" if each == "partly" else None for each in captions])
        return np.array([each.mean() / 255 for each in images])
"""


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_apart", True)


@pytest.fixture
def images() -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.integers(0, 255, (6 + index, 9, 3), dtype=np.uint8) for index in range(3)]


def own(folder: Path) -> Evaluator:
    path = folder / "own.py"
    path.write_text(OWN, encoding="utf-8")
    return find(f"{path}:Own").load()


def pid_of(found: Evaluator) -> int:
    assert isinstance(found, Remote)
    assert found._process is not None
    return int(found._process._process.pid)


_ARRAYS = st.sampled_from(["uint8", "bool", "int64", "float32", "float64"]).flatmap(
    lambda kind: arrays(kind, array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)


@given(given_arrays=st.lists(_ARRAYS, max_size=4))
def test_arrays_come_back_as_they_were(given_arrays: list[np.ndarray]) -> None:
    back = unpack(*pack(given_arrays))
    assert len(back) == len(given_arrays)
    for one, other in zip(given_arrays, back, strict=True):
        assert one.dtype == other.dtype
        assert other.flags.writeable
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("told", "data"),
    [
        ([{"type": "object", "shape": [1]}], b"12345678"),
        ([{"type": "uint8", "shape": [-1]}], b"1"),
        ([{"type": "uint8", "shape": [2]}], b"1"),
        ([{"type": "float64", "shape": [1.5]}], b"12345678"),
    ],
)
def test_what_is_no_array_is_refused(told: list[dict[str, object]], data: bytes) -> None:
    with pytest.raises(InvalidInput):
        unpack(told, data)


@pytest.mark.parametrize("reference", [HISTOGRAM, PAIRED])
def test_scores_are_those_of_the_class_to_the_bit(
    reference: str, images: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = find(reference)
    with Pool(budget_mb=1000, device="cpu").lease(reference) as loaded:
        assert isinstance(loaded, kind)
        assert pid_of(loaded) != os.getpid()
        pairs = [(str(index), caption) for index in range(3) for caption in ("one", "two", POISON)]
        keyed = {str(index): image for index, image in enumerate(images)}
        seen = score_pairs_with_errors(loaded, keyed, pairs)
        print_of = loaded.fingerprint
    monkeypatch.setattr(registry, "_apart", False)
    real = find(reference).load()
    expected = score_pairs_with_errors(real, keyed, pairs)
    np.testing.assert_array_equal(seen.scores, expected.scores)
    assert np.isfinite(seen.scores).sum() == 6
    assert print_of == real.fingerprint
    assert isinstance(real, DualEncoder) == issubclass(kind, DualEncoder)
    assert all(
        ("cannot read" in (error or "")) == (pair[1] == POISON) for pair, error in zip(pairs, seen.errors, strict=True)
    )


def test_it_tells_what_it_sees(tmp_path: Path, images: list[np.ndarray]) -> None:
    from core.corpora.schema import Box, Mask

    found = own(tmp_path)
    assert found.full_batch == 5
    assert found.fingerprint.settings == {"b": [1, 2]}
    assert found.crop(20, 10) == Box(1, 2, 17, 6)
    assert found.count_tokens("a red cat") == 3
    assert found.truncates("a very long caption")
    assert not found.truncates("short")
    mask = np.zeros(images[0].shape[:2], dtype=bool)
    mask[:3] = True
    sight = found.see(images[0], "a cat", object_mask=Mask.from_array(mask))
    np.testing.assert_array_equal(sight.views[0][1], images[0][::2, ::2])
    assert (sight.prompt, sight.truncated, sight.tokens, sight.object_inside) == ("A CAT", "cut", 3, mask.mean())
    assert sight.evidence == (("cat", 0.5),)
    assert sight.notes == ("a note",)
    assert sight.crop == Box(1, 2, 6, 5)


def test_what_it_raises_is_said_and_the_other_pairs_are_scored(tmp_path: Path, images: list[np.ndarray]) -> None:
    found = own(tmp_path)
    keyed = {"a": images[0]}
    told = score_pairs_with_errors(found, keyed, [("a", "raise"), ("a", "fine")])
    assert "KeyError: 'no such word'" in (told.errors[0] or "")
    assert told.scores[1] == images[0].mean() / 255
    told = score_pairs_with_errors(found, keyed, [("a", "partly"), ("a", "fine")])
    assert told.errors == ("cannot read it", None)
    with pytest.raises(ScoringStopped, match="the budget is spent"):
        found.score(images[:1], ["stop"])
    with pytest.raises(MetricFailed, match="KeyError"):
        found.score(images[:1], ["raise"])


def test_a_crash_is_a_sentence_and_the_next_call_is_answered(tmp_path: Path, images: list[np.ndarray]) -> None:
    found = own(tmp_path)
    before = pid_of(found)
    with pytest.raises(ScoringStopped, match="ended its process"):
        found.score(images[:1], ["crash"])
    assert found.score(images[:1], ["fine"])[0] == images[0].mean() / 255
    assert pid_of(found) != before


def test_one_that_never_answers_is_ended(
    tmp_path: Path, images: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = own(tmp_path)
    assert isinstance(found, Remote)
    with pytest.raises(ScoringStopped, match=r"took more than 0\.5 s"):
        found._ask("score", images[:1], seconds=0.5, captions=["sleep"], references=None)


def test_the_pool_loads_a_changed_file_anew_whatever_its_date(tmp_path: Path, images: list[np.ndarray]) -> None:
    path = tmp_path / "own.py"
    pool = Pool(budget_mb=1000, device="cpu")
    found = []
    changed = OWN.replace("mean() / 255", "mean() / 510")
    assert len(changed) == len(OWN)
    for text, date in ((OWN, 1_000_000_000), (OWN, 1_000_000_100), (changed, 1_000_000_100)):
        path.write_text(text, encoding="utf-8")
        os.utime(path, (date, date))
        with pool.lease(f"{path}:Own") as loaded:
            found.append((pid_of(loaded), float(loaded.score(images[:1], ["fine"])[0])))
    (one, whole), (again, _), (other, half) = found
    assert one == again != other
    assert half == whole / 2


def test_its_process_ends_with_it(tmp_path: Path) -> None:
    found = own(tmp_path)
    pid = pid_of(found)
    assert psutil.pid_exists(pid)
    del found
    gc.collect()
    assert not psutil.pid_exists(pid)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return cls()", "raise OSError('no weights')", "could not be loaded: OSError: no weights"),
        ("return cls()", "os._exit(1)", "ended its process"),
        ("return cls()", "return 3", "which is no evaluator"),
    ],
)
def test_one_that_cannot_be_loaded_says_why(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN.replace(old, new), encoding="utf-8")
    with pytest.raises(NotAvailable, match=said):
        find(f"{path}:Own").load()


def test_a_metric_of_videos_is_left_to_audits(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "from core.evaluators.base import evaluator\nfrom core.evaluators.metrics.clipscore import EmScore\n"
        "@evaluator(name='own', title='Own', summary='Own.', family='test', score_range=(0.0, 1.0), memory_mb=1,\n"
        "           offline=True, source='none', licence='none')\nclass Own(EmScore):\n    pass\n",
        encoding="utf-8",
    )
    with pytest.raises(NotAvailable, match="start an audit with it"):
        find(f"{path}:Own").load(device="cpu")


def test_a_stand_in_needs_what_its_spec_says_whatever_kind_it_is_of() -> None:
    """An encoder of a publisher counts by its checkpoint, which is told in the other process alone."""
    kind = type("StandIn", (Remote, PublishedEncoder), {"spec": replace(find("conse-lite0").spec, memory_mb=9999)})
    assert kind.needs_mb("cpu") == 9999
