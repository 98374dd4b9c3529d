"""From one's own table beside pictures to the pages, the link and the report: the numbers of one site alone."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from core.analysis.ranking import facets
from core.analysis.reading import read_table
from core.analysis.scope import Scope, narrow
from core.analysis.slices import Slice, told_of, where
from core.commands._shared import Code
from core.errors import InvalidInput
from core.features.compare.two_sides import compare
from core.report.build import build
from core.settings import ROOT, runs_dir
from core.store.store import Store
from invariscope import audit, open_run
from tests.commands.calling import Invoke
from tests.commands.conftest import invoke  # noqa: F401  # a fixture
from tests.pages.opening import COMPARE, CONTRAST, FAILURES, FLIP_RISK, RESULTS, Open, said, texts

MARY = "St. Mary, 50 % <b>wing</b>"
SITES = {MARY: (12, 100, 90), "street": (10, 100, 70), "": (8, 100, 50)}
"""Site -> its pictures, how bright they are above, and how bright below."""

PROBES = ["vertical-flip", "null"]
KEY = "own:site"
SKY = ROOT / "tests" / "plugins" / "sky.py"


def pictures(folder: Path, sites: dict[str, tuple[int, int, int]] = SITES) -> Path:
    folder.mkdir()
    lines = ["image;caption;Site;camera"]
    for site, (many, above, below) in sites.items():
        for place in range(many):
            pixels = np.full((40, 40, 3), above, dtype=np.uint8)
            pixels[20:] = below - place % 3
            pixels[0, 0] = len(lines)  # no two pictures are equal
            Image.fromarray(pixels).save(folder / f"{len(lines):02}.png")
            lines.append(f"{len(lines):02}.png;A place.;{site};{'ab'[place % 2]}")
    (folder / "captions.csv").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of thirty pictures, audited once."""
    home = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INVARISCOPE_DATA", str(home / "data"))
        made = audit(pictures(home / "places"), f"{SKY}:Sky", PROBES, run_id="places", progress=False)
    return made.path


@pytest.fixture
def places(open_page: Open, run: Path) -> Path:
    """The run, among those of the pages."""
    return Path(shutil.copytree(run, runs_dir() / "places"))


def link_of(app: AppTest) -> dict[str, str]:
    """The page's link; AppTest gives a list for what it was opened with, and a text for what the page wrote."""
    return {name: value if isinstance(value, str) else value[0] for name, value in app.query_params.items()}


def medians(run: Path, site: str) -> float:
    """Median % change of a site's pictures upside down, of the stored rows."""
    rows = pd.concat(map(pd.read_parquet, sorted((run / "scores").glob("*.parquet"))))
    wide = rows.pivot_table(index="item", columns="probe", values="score")
    first = 1
    for name, (many, _, _) in SITES.items():
        items = [f"{number:02}.png" for number in range(first, first + many)]
        if name == site:
            return float(np.median(100 * (wide["vflip"] / wide["identity"] - 1).loc[items]))
        first += many
    raise KeyError(site)


def test_a_slice_holds_the_pictures_of_a_site_in_every_way_of_asking(run: Path) -> None:
    with Store.open([run]) as store:
        scope = narrow(store)
        table = read_table(store, scope)
        assert table.own == {"own:camera": ("a", "b"), KEY: (MARY, "not stated", "street")}
        for site, (many, _, _) in SITES.items():
            chosen = Slice(told=((KEY, site or "not stated"),))
            view = table.view(chosen)
            assert view.items.sum() == many
            found = view.changes("sky", ("vflip",)).percent[view.items]
            assert np.median(found) == pytest.approx(medians(run, site))
            clause, params = where(scope, chosen, None)
            n = store.query(f"select count(*) as n from shifts s {clause}", params)["n"].iloc[0]
            assert facets(table, Slice())[KEY][site or "not stated"] == n == many * (len(table.probes) - 1)
            alone = read_table(store, narrow(store, Scope(told=chosen.told)))
            assert alone.digest() == table.at(view.item_places).digest()
        both = Slice(told=((KEY, "street"), (KEY, MARY), ("own:camera", "b")))
        assert table.view(both).items.sum() == 6 + 5
        assert facets(table, both)["families"]["vertical-flip"] == 11
        assert facets(table, both)[KEY]["not stated"] == 4 * (len(table.probes) - 1)


def test_two_sites_are_compared_and_every_site_with_itself(run: Path) -> None:
    with Store.open([run]) as store:
        table = read_table(store)
        sides = [table.view(Slice(families=("vertical-flip",), told=((KEY, site),))) for site in (MARY, "street")]
        row = compare(*sides).iloc[0]
        assert (row["a_n"], row["b_n"], row["how"]) == (12, 10, "independent")
        assert row["difference"] == pytest.approx(medians(run, MARY) - medians(run, "street"))
        rows = compare(table.view(Slice(families=("vertical-flip",))), table.view(), by=KEY).set_index("label")
        assert rows.loc["street", "a_value"] == pytest.approx(medians(run, "street"))
        assert rows.loc["not stated", "a_n"] == 8


def test_a_report_is_of_the_items_asked_for_and_says_so(run: Path) -> None:
    with Store.open([run]) as store:
        made = build(store, Scope(told=told_of(["site=street", "site=not stated"])))
        assert made.about["Items"] == "18 of folder"
        assert made.about["Items asked for"] == "site street or not stated"
        assert made.signature != build(store).signature
        assert open_run(run).signature(where=["site=street", "site=not stated"]) == made.signature
        for asked, problem in (
            ("place=street", "no item of these runs has a column 'place' of its owner's; there are: camera, site"),
            ("site=moon", "no item of these runs has site 'moon'; there are: St. Mary"),
        ):
            with pytest.raises(InvalidInput, match=problem):
                build(store, Scope(told=told_of([asked])))


def test_the_command_takes_a_column_and_its_value(run: Path, invoke: Invoke, tmp_path: Path) -> None:  # noqa: F811
    asked = ("report", run, "-o", tmp_path / "out", "--format", "md", "--no-encoders")
    assert invoke(*asked, "--where", f"site={MARY}", "--where", "camera=a").exit_code == Code.OK
    written = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "6 of folder" in written
    assert "<b>wing" not in written
    for wrong in ("site", "site=", "site=moon"):
        done = invoke(*asked, "--overwrite", "--where", wrong)
        assert done.exit_code == Code.BAD_INPUT
        assert wrong.removeprefix("site=") in done.stderr


def test_a_link_filters_every_page_and_the_page_writes_the_same_link(open_page: Open, places: Path) -> None:
    link = {KEY: "St. Mary%2C 50 %25 <b>wing</b>"}
    for page in (RESULTS, FAILURES, FLIP_RISK, CONTRAST):
        app = open_page(page, **link)
        assert not app.exception
        assert "could not be restored" not in texts(app)
        assert link_of(app)[KEY] == link[KEY]
    app = open_page(RESULTS, **link)
    assert f"Filtered: site {MARY}" in said(app)
    offered = next(each for each in app.multiselect if each.key == f"results.{KEY}")
    assert [each.rpartition(" · ")[0] for each in offered.options] == [MARY, "not stated", "street"]
    offered.set_value(["street"]).run()
    assert link_of(app)[KEY] == "street"
    assert "Filtered: site street" in said(app)


def test_a_page_of_failures_shows_the_pairs_of_the_site(open_page: Open, places: Path) -> None:
    app = open_page(FAILURES, **{KEY: "not stated", "probes": "vflip"})
    assert "8 items" in said(app) or "8 pairs" in said(app)
    none = open_page(FAILURES, **{KEY: "moon"})
    assert "No such site here, left out: moon" in said(none)


def test_two_sites_are_compared_on_their_page(open_page: Open, places: Path) -> None:
    app = open_page(COMPARE, **{f"a_{KEY}": "street", f"b_{KEY}": "not stated", "by": "family"})
    assert not app.exception
    (table,) = (each.value for each in app.dataframe)
    row = table.set_index("label").loc["Upside down"]
    assert (row["a_n"], row["b_n"]) == (10, 8)
    app.button("compare.swap").click().run()
    assert link_of(app)[f"a_{KEY}"] == "not stated"
    by_site = open_page(COMPARE, **{"a_families": "vertical-flip", "by": KEY})
    (table,) = (each.value for each in by_site.dataframe)
    assert set(table["label"]) == {"All together", MARY, "street", "not stated"}


def test_runs_without_such_columns_offer_none(open_page: Open, scoped: Path) -> None:
    app = open_page(RESULTS)
    assert not [each.key for each in app.multiselect if each.key and "own:" in each.key]
