"""Words written into photographs with text and without: both groups and their difference, from the raw Parquet."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from core.analysis.questions import Options, catalogue
from core.analysis.questions.surface import HIGHER_WITH_TEXT, LOWER_WITH_TEXT, OPEN
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.analysis.verdicts import TOO_FEW
from core.store.schema import VARIANTS
from core.store.store import Store
from tests.analysis.made_runs import raw, score, shifts, write_run

PROBES = ("typographic:neutral", "typographic:wrong")


def made(folder: Path, *, with_text: int, without: int, extra: float, read: bool = True) -> ScoreTable:
    """A run whose photographs with text move so many points more; the last item was never told."""
    rng, rows, told = np.random.default_rng(5), [], []
    about = {"axis": "surface", "family": "typographic", "baseline": "identity"}
    for place in range(with_text + without + 1):
        name, held = f"i{place:03d}", place < with_text
        rows.append(score(name, "identity", clean := float(rng.uniform(0.4, 0.8))))
        for probe in PROBES:
            moved = -0.05 + (extra / 100 if held else 0.0) + rng.normal(0, 0.01)
            rows.append(score(name, probe, clean * (1 + moved), **about))
            if read and place < with_text + without:
                told.append(
                    {
                        "run": "r",
                        "corpus": "c",
                        "item": name,
                        "probe": probe,
                        "subject": "template",
                        "language": "en",
                        "rank": 0,
                        "key": "text_already",
                        "value": "some" if held else "none",
                    }
                )
    write_run(folder / "r", rows, corpus={"name": "c"})
    (folder / "r" / "variants").mkdir()
    pq.write_table(pa.Table.from_pylist(told, schema=VARIANTS), folder / "r" / "variants" / "shard-00000.parquet")
    with Store.open(folder) as store:
        return read_table(store)


def asked(table: ScoreTable, id_: str = "S-text") -> pd.DataFrame:
    question = next(each for each in catalogue(table) if each.id == id_)
    assert not question.needs(table)
    found = question.compute(table.view(), Options())
    assert {column.name for column in question.columns} <= set(found)
    return found


def test_groups_and_difference_are_those_of_the_raw_rows(tmp_path: Path) -> None:
    found = asked(made(tmp_path, with_text=18, without=26, extra=3.0), "S-text").set_index("probe")
    rows = shifts(raw(tmp_path / "r")).merge(
        raw(tmp_path / "r", "variants")[["item", "probe", "value"]], on=["item", "probe"], validate="1:1"
    )
    assert set(found.index) == set(PROBES)
    for probe, row in found.iterrows():
        own = rows[rows["probe"] == probe]
        some, none = (own.loc[own["value"] == value, "percent"].to_numpy() for value in ("some", "none"))
        assert (row["held_n"], row["bare_n"], row["n_items"]) == (len(some), len(none), 44) == (18, 26, 44)
        assert row["held"] == pytest.approx(np.median(some))
        assert row["bare"] == pytest.approx(np.median(none))
        assert row["value"] == pytest.approx(np.median(some) - np.median(none))
        drawn = stats.bootstrap(
            (some, none),
            lambda a, b, axis: np.median(a, axis) - np.median(b, axis),
            n_resamples=4000,
            method="percentile",
            rng=1,
        ).confidence_interval
        assert (row["low"], row["high"]) == (pytest.approx(drawn.low, abs=0.35), pytest.approx(drawn.high, abs=0.35))
        assert row["said"] == HIGHER_WITH_TEXT


@pytest.mark.parametrize(
    ("extra", "with_text", "said"), [(-3.0, 18, LOWER_WITH_TEXT), (0.0, 18, OPEN), (3.0, 5, TOO_FEW), (0.0, 0, TOO_FEW)]
)
def test_the_words_follow_the_interval_and_few_photographs_claim_nothing(
    tmp_path: Path, extra: float, with_text: int, said: str
) -> None:
    found = asked(made(tmp_path, with_text=with_text, without=26, extra=extra))
    assert set(found["said"]) == {said}
    assert found["power"].str.contains("points on would have shown").eq(said == OPEN).all()
    if said == TOO_FEW:
        assert found["low"].isna().all()
        assert (found["note"] != "").all()
    if not with_text:
        assert found["value"].isna().all()
        assert (found["held_n"] == 0).all()


def test_where_no_photograph_was_read_it_says_how_to(tmp_path: Path) -> None:
    table = made(tmp_path, with_text=18, without=26, extra=3.0, read=False)
    question = next(each for each in catalogue(table) if each.id == "S-text")
    assert question.needs(table).endswith("an audit with --option text=read reads them")
    assert question.compute(table.view(), Options()).empty
