"""Labels of two categories and the origins of masks, against counts by hand of runs that are written by hand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.analysis.failures import relaxations
from core.analysis.questions import Options, Question, catalogue
from core.analysis.ranking import facets
from core.analysis.reading import read_table
from core.analysis.scope import narrow
from core.analysis.slices import Slice, recorded, where
from core.analysis.table import ScoreTable
from core.store.schema import VARIANTS
from core.store.store import Store
from tests.analysis.made_runs import score, write_run

TIED = {"bench": {"category": "furniture", "or": "outdoor", "items": 5}}

KINDS = (
    *[("bench", "furniture")] * 3,
    ("bench", "outdoor"),
    ("bench", "animal"),
    *[("cat", "animal")] * 6,
    ("thing", None),
)
"""Label and category of each item: of five benches one got its own category elsewhere, which is no tie."""


def question(table: ScoreTable, id_: str) -> Question:
    return next(each for each in catalogue(table) if each.id == id_)


def audited(folder: Path, corpus: str = "c", **told: Any) -> Path:
    rows = [
        score(f"i{place:03d}", probe, 0.5 + place / 100, label=label, category=category, corpus=corpus)
        for place, (label, category) in enumerate(KINDS)
        for probe in ("identity", "vflip")
    ]
    return write_run(folder, rows, corpus={"name": corpus, **told})


def test_tied_labels_are_counted_where_the_run_records_them(tmp_path: Path) -> None:
    with Store.open(audited(tmp_path / "new", tied=TIED)) as store:
        table = read_table(store)
        asked = question(table, "S-ties")
        assert asked.needs(table) == ""
        frame = asked.compute(table.view(), Options())
        assert {column.name for column in asked.columns} == set(frame)
        assert frame.to_dict("records") == [
            {
                "corpus": "c",
                "label": "bench",
                "category": "furniture",
                "other": "outdoor",
                "n": 3,
                "share": pytest.approx(100 * 3 / 11),
            },
            {
                "corpus": "c",
                "label": "bench",
                "category": "outdoor",
                "other": "furniture",
                "n": 1,
                "share": pytest.approx(100 / 11),
            },
        ]


def test_items_of_two_categories_can_be_left_out_of_every_number(tmp_path: Path) -> None:
    chosen = Slice(untied=True)
    with Store.open(audited(tmp_path / "new", tied=TIED)) as store:
        scope, table = narrow(store), read_table(store)
        left = table.items.loc[table.view(chosen).items, "item"].tolist()
        assert left == [f"i{place:03d}" for place in range(4, 12)]
        clause, params = where(scope, chosen, recorded(store.runs()[0]))
        found = store.query(f"select s.item from shifts s {clause} order by s.item", params)
        assert found["item"].tolist() == left
        assert facets(table, chosen)["categories"] == {"animal": 7, "furniture": 0, "outdoor": 0}
        assert relaxations(store, scope, chosen) == {"untied": 12}


@pytest.mark.parametrize(
    ("corpus", "said"),
    [
        ({}, "the runs do not record it: they were made before tied labels were counted"),
        ({"tied": 3}, "the runs do not record it"),
        ({"tied": {}}, "no scored item has a label"),
        ({"tied": {"bench": "outdoor", "cat": {"category": "animal"}}}, "no scored item has a label"),
    ],
)
def test_a_run_without_the_count_says_so_and_loses_nothing(
    tmp_path: Path, corpus: Mapping[str, Any], said: str
) -> None:
    with Store.open(audited(tmp_path / "old", **corpus)) as store:
        table = read_table(store)
        assert said in question(table, "S-ties").needs(table)
        assert table.view(Slice(untied=True)).items.all()
        clause, params = where(narrow(store), Slice(untied=True), recorded(store.runs()[0]))
        assert len(store.query(f"select s.item from shifts s {clause}", params)) == len(KINDS)


def test_of_two_corpora_the_one_that_does_not_record_ties_is_named(tmp_path: Path) -> None:
    for name, told in (("a", {"tied": {}}), ("b", {})):
        audited(tmp_path / name, corpus=name, **told)
    with Store.open(tmp_path) as store:
        table = read_table(store)
        assert question(table, "S-ties").needs(table).endswith("; the runs of b do not record it")


def test_the_outlines_of_moved_objects_are_counted_by_where_they_come_from(tmp_path: Path) -> None:
    told = {"axis": "spatial", "family": "reposition", "baseline": "identity"}
    rows = [score(f"i{place:03d}", "identity", 0.5) for place in range(8)]
    rows += [score(f"i{place:03d}", "reposition-TL", 0.4, bg_delta=0.0, **told) for place in range(7)]
    folder = write_run(tmp_path / "moved", rows)
    facts = [("i001", "mask_source", "grabcut"), ("i002", "mask_source", "grabcut"), ("i003", "fill", "example")]
    kept = [
        {
            "run": "moved",
            "corpus": "c",
            "item": item,
            "probe": "reposition-TL",
            "subject": "template",
            "language": "en",
            "rank": 0,
            "key": key,
            "value": value,
        }
        for item, key, value in facts
    ]
    (folder / "variants").mkdir()
    pq.write_table(pa.Table.from_pylist(kept, schema=VARIANTS), folder / "variants" / "shard-00000.parquet")
    with Store.open(folder) as store:
        table = read_table(store)
        asked = question(table, "S-masks")
        assert asked.needs(table) == ""
        expected = pd.DataFrame(
            {
                "corpus": "c",
                "mask": ["GrabCut from the box", "annotated outline"],
                "n": [2, 5],
                "share": [200 / 7, 500 / 7],
            }
        )
        pd.testing.assert_frame_equal(asked.compute(table.view(), Options()), expected, check_dtype=False)


def test_where_nothing_was_moved_the_outlines_say_what_to_audit(tmp_path: Path) -> None:
    with Store.open(audited(tmp_path / "still")) as store:
        table = read_table(store)
        assert "--probes reposition" in question(table, "S-masks").needs(table)
