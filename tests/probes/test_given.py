"""Wrong sides that come with the item: told as they are, refused where there are none, and scored in an audit."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.audit.run import run_audit
from core.corpora.pair_corpus import load_pairs
from core.corpora.schema import Corpus, Rival
from core.errors import InvalidInput, ProbeRejected
from core.evaluators.pool import Pool
from core.probes.base import HUMAN, Subject, Variant
from core.probes.pairs import Pairs
from core.probes.registry import catalogue
from core.probes.scene import Scene
from tests.analysis.made_runs import raw
from tests.audit.squares import HISTOGRAM
from tests.plans import make_plan
from tests.probes.painted import paint

FACTS: Mapping[str, str | float] = {"kind": "swap_obj", "falsity": "stated"}
RIGHT = Subject(HUMAN, "en", 0, "A red square.")


@pytest.fixture
def scene() -> Scene:
    painted = paint()
    item = replace(painted.item, wrong={"en": "A blue square."}, facts=FACTS)
    return Scene(item, np.array(painted.pixels))


def made(name: str, scene: Scene, subject: Subject = RIGHT) -> Variant | ProbeRejected:
    return Pairs(scene.item, np.array(scene.pixels)).make(catalogue().get(name), subject)


def test_the_wrong_caption_is_the_one_that_the_corpus_gives(scene: Scene) -> None:
    variant = made("wrong-caption", scene)
    assert isinstance(variant, Variant)
    assert (variant.caption, variant.pixels, dict(variant.facts)) == ("A blue square.", None, dict(FACTS))


@pytest.mark.parametrize("subject", [replace(RIGHT, language="de"), replace(RIGHT, rank=1)])
def test_a_caption_without_a_wrong_side_is_refused(scene: Scene, subject: Subject) -> None:
    rejected = made("wrong-caption", scene, subject)
    assert isinstance(rejected, ProbeRejected)
    assert rejected.code == "no-wrong-side"


def test_the_wrong_picture_may_have_another_size(scene: Scene, tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (20, 70, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "other.png")
    rival = Rival("wrong-picture", tmp_path / "other.png", size=(70, 20))
    variant = made("wrong-picture", Scene(replace(scene.item, rivals=(rival,)), np.array(scene.pixels)))
    assert isinstance(variant, Variant)
    np.testing.assert_array_equal(variant.pixels, pixels)
    lying = replace(rival, size=(20, 70))
    refused = made("wrong-picture", Scene(replace(scene.item, rivals=(lying,)), np.array(scene.pixels)))
    assert isinstance(refused, ProbeRejected)
    assert refused.code == "bad-rival"


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    root = tmp_path / "winoground"
    root.mkdir()
    for name, colour, size in (("a", "red", (40, 30)), ("b", "blue", (30, 50))):
        Image.new("RGB", size, colour).save(root / f"{name}.png")
    line = {
        "id": 0,
        "image_0": "a",
        "image_1": "b",
        "caption_0": "a red one",
        "caption_1": "a blue one",
        "collapsed_tag": "Object",
        "tag": "Adjective",
    }
    (root / "examples.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    return load_pairs.load(root)


def test_an_audit_scores_each_caption_on_each_picture(corpus: Corpus, tmp_path: Path) -> None:
    plan = make_plan(corpus, evaluators=[HISTOGRAM], probes=["given", "given-picture"], subjects=["human"])
    run_audit(plan, out=tmp_path / "runs", run_id="r", pool=Pool(budget_mb=100, device="cpu"))
    rows = raw(tmp_path / "runs" / "r")
    held = {(row.item, row.probe): (row.caption, row.score) for row in rows.itertuples()}
    assert {key: caption for key, (caption, _) in held.items()} == {
        ("examples:0-0", "identity"): "a red one",
        ("examples:0-1", "identity"): "a blue one",
        ("examples:0-0", "wrong-caption"): "a blue one",
        ("examples:0-1", "wrong-caption"): "a red one",
        ("examples:0-0", "wrong-picture"): "a red one",
        ("examples:0-1", "wrong-picture"): "a blue one",
    }
    # The other item's picture with one's own caption is the other item's wrong caption.
    for own, other in (("examples:0-0", "examples:0-1"), ("examples:0-1", "examples:0-0")):
        assert held[own, "wrong-picture"][1] == pytest.approx(held[other, "wrong-caption"][1], abs=1e-9)


def test_a_group_leaves_out_what_no_item_holds_and_a_name_does_not(corpus: Corpus) -> None:
    bare = replace(corpus, items=tuple(replace(item, rivals=(), wrong={}) for item in corpus.items))
    names = {
        probe.name
        for probe in make_plan(bare, evaluators=[HISTOGRAM], probes=["directional"], subjects=["human"]).probes
    }
    assert "negation" in names
    assert not names & {"wrong-caption", "wrong-picture", "prototype:adversary"}
    with_them = make_plan(corpus, evaluators=[HISTOGRAM], probes=["directional"], subjects=["human"])
    assert {"wrong-caption", "wrong-picture"} <= {probe.name for probe in with_them.probes}
    named = make_plan(bare, evaluators=[HISTOGRAM], probes=["wrong-caption"], subjects=["human"]).probes
    assert [probe.name for probe in named] == ["wrong-caption"]
    with pytest.raises(InvalidInput, match=r"no item of corpus 'winoground' has wrong, which given need"):
        make_plan(bare, evaluators=[HISTOGRAM], probes=["given"], subjects=["human"])


def test_a_plan_asks_for_a_reader_that_never_sees_the_picture(corpus: Corpus) -> None:
    plan = make_plan(corpus, evaluators=[HISTOGRAM], probes=["given"], subjects=["human"])
    assert any("blind-length,blind-typicality" in said for said in plan.warnings)
    seen = make_plan(corpus, evaluators=[HISTOGRAM, "blind-length"], probes=["given"], subjects=["human"])
    assert not any("never sees" in said for said in seen.warnings)
