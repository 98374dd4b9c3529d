"""Items enough of sources too few claim nothing, and it is the sources that are said to be too few."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.verdicts import TOO_FEW, TOO_FEW_SOURCES
from core.probes.families.distance import GRID
from core.store.schema import VARIANTS
from core.store.store import Store
from tests.analysis.made_runs import score, write_run

SPATIAL = {"axis": "spatial", "baseline": "identity"}
SURFACE = {"axis": "surface", "baseline": "identity"}
ASKED: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "S22": {
        "reposition-TL": SPATIAL | {"family": "reposition"},
        "blur-1": SPATIAL | {"family": "blur", "control": True},
    },
    "S25": {f"reposition{way}-TL": SPATIAL | {"family": f"reposition{way}"} for way in ("", "-true")},
    "S-text": {"typographic:neutral": SURFACE | {"family": "typographic"}},
    "S36": {f"verbosity:{name}": SURFACE | {"family": "verbosity"} for name in ("here", "as-seen", "what-shows")},
    "S19-lean": {each.name: SPATIAL | {"family": "distance"} for each in GRID},
}
"""Question -> the probes that it needs."""


def answered(folder: Path, id_: str, *, items: int, sources: int) -> str:
    """What a question says in words of a run whose items share so many sources."""
    rng, rows = np.random.default_rng(2), []
    for place in range(items):
        name, clean = f"i{place:03d}", float(rng.uniform(0.4, 0.8))
        rows.append(score(name, "identity", clean))
        rows += [score(name, probe, clean * rng.normal(0.95, 0.02), **about) for probe, about in ASKED[id_].items()]
    shared = [
        {"corpus": "c", "item": f"i{place:03d}", "item_group": f"s{place // 2 % sources}"} for place in range(items)
    ]
    write_run(folder / "r", rows, items=shared, corpus={"name": "c"})
    if id_ == "S-text":
        told = [
            {
                "run": "r",
                "corpus": "c",
                "item": f"i{place:03d}",
                "probe": "typographic:neutral",
                "rank": 0,
                "subject": "template",
                "language": "en",
                "key": "text_already",
                "value": "some" if place % 2 else "none",
            }
            for place in range(items)
        ]
        (folder / "r" / "variants").mkdir()
        pq.write_table(pa.Table.from_pylist(told, schema=VARIANTS), folder / "r" / "variants" / "shard-00000.parquet")
    with Store.open(folder) as store:
        table = read_table(store)
        question = next(each for each in catalogue(table) if each.id == id_)
        assert not question.needs(table)
        (said,) = question.compute(table.view(), Options())["said"]
    return str(said)


@pytest.mark.parametrize("id_", ASKED)
def test_what_is_said_of_few_sources_of_few_items_and_of_enough(tmp_path: Path, id_: str) -> None:
    assert answered(tmp_path / "sources", id_, items=30, sources=6) == TOO_FEW_SOURCES
    assert answered(tmp_path / "items", id_, items=8, sources=8) == TOO_FEW
    assert answered(tmp_path / "enough", id_, items=40, sources=20) not in (TOO_FEW, TOO_FEW_SOURCES)
