"""Two systems against scoring each pair by hand, with an evaluator that can be worked out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.corpora.image_header import pixel_hash
from core.corpora.item_pictures import read_item
from core.errors import InvalidInput
from core.features.flips.system_pairs import match, score_systems
from core.probes.registry import catalogue
from tests.audit.squares import build_corpus
from tests.plugins.histogram import POISON, Histogram


def test_keys_are_ids_or_file_names_and_the_rest_is_named(tmp_path: Path) -> None:
    corpus = build_corpus(tmp_path)
    first, second, third = corpus.items[:3]
    a = {first.id: "a", second.image_path.name: "b", third.id: "  ", "lost": "c"}
    b = {first.id: "x", second.image_path.stem: "y", third.id: "z"}
    found = match(corpus, a, b)
    assert [item.id for item in found.items] == [first.id, second.id]
    assert (found.a[second.id], found.b[second.id]) == ("b", "y")
    assert (set(found.only_a), found.only_b) == ({third.id, "lost"}, (third.id,))
    with pytest.raises(InvalidInput, match="no image of corpus"):
        match(corpus, {"lost": "c"}, b)


def test_every_pair_has_the_four_scores_that_the_evaluator_gives(tmp_path: Path) -> None:
    corpus = build_corpus(tmp_path)
    ids = [item.id for item in corpus.items[:3]]
    matched = match(corpus, dict.fromkeys(ids, "a dog"), dict.fromkeys(ids, "some kind of umbrella"))
    steps = []
    probes = [catalogue().get("vflip"), catalogue().get("blur-2")]
    found = score_systems(Histogram(), matched, probes, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert len(found.pairs) == 6
    assert not found.left_out
    row = found.pairs[found.pairs["probe"] == "vflip"].iloc[1]
    pixels = read_item(corpus.get(row["item"])).pixels
    flipped = pixels[::-1].copy()
    alone = Histogram().score([pixels, pixels, flipped, flipped], [row["a_caption"], row["b_caption"]] * 2)
    np.testing.assert_allclose([row[f"{s}_{t}"] for t in ("before", "after") for s in "ab"], alone, atol=1e-6)


def test_every_pair_names_the_source_of_its_item(tmp_path: Path) -> None:
    corpus = build_corpus(tmp_path)
    one, other, alone = corpus.items[:3]
    corpus = replace(corpus, items=(replace(one, group="cut"), replace(other, group="cut"), alone))
    ids = [item.id for item in corpus.items]
    matched = match(corpus, dict.fromkeys(ids, "a dog"), dict.fromkeys(ids, "a cat"))
    sources = score_systems(Histogram(), matched, [catalogue().get("vflip")]).pairs.set_index("item")["source"]
    assert sources.to_dict() == {one.id: "cut", other.id: "cut", alone.id: pixel_hash(read_item(alone).pixels)}


def test_what_cannot_be_scored_costs_itself_alone_and_is_told(tmp_path: Path) -> None:
    corpus = build_corpus(tmp_path)
    good, bad, lost = corpus.items[:3]
    corpus = replace(corpus, items=(good, bad, replace(lost, image_path=tmp_path / "none.png")))
    captions = {good.id: "a dog", bad.id: f"a {POISON}", lost.id: "a car"}
    found = score_systems(
        Histogram(), match(corpus, captions, dict.fromkeys(captions, "a bed")), [catalogue().get("vflip")]
    )
    table = found.pairs.set_index("item")
    assert np.isfinite(table.loc[good.id, "a_after"])
    assert np.isnan(table.loc[bad.id, "a_before"])
    assert np.isfinite(table.loc[bad.id, "b_before"])
    assert lost.id not in table.index
    assert any(POISON in sentence for sentence in found.left_out)
    assert any(lost.id in sentence for sentence in found.left_out)
