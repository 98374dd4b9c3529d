import json
import shutil
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from core.analysis.failures import PAIR
from core.analysis.scope import Scope
from core.audit.run import run_audit
from core.charts.canvas import jpeg
from core.evaluators.cache import IMAGE
from core.evaluators.pool import Pool
from core.settings import runs_dir
from core.stories.story import Pair, Tags
from pages.views.common.links import failures_link, lab_link, read_record, record_text
from pages.views.common.open_runs import narrowed, present
from pages.views.common.text import as_percent
from pages.views.failures import failure_pictures, failures_state, failures_view
from pages.views.failures.failure_card import cut_said
from pages.views.failures.failures_state import with_tags
from pages.views.probe_lab.lab_state import shared
from tests.audit.squares import HISTOGRAM, PAIRED, build_corpus
from tests.pages.opening import FAILURES, Open, link_of, texts
from tests.plans import make_plan

CAT = {"run": "demo", "item": "cat", "subject": "template", "probe": "vflip"}


@pytest.fixture(scope="module")
def squares_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("squares")
    plan = make_plan(
        build_corpus(folder / "corpus"), evaluators=[HISTOGRAM, PAIRED], probes=["rotation", "null", "cultural"]
    )
    return run_audit(plan, folder / "runs", run_id="squares-1", pool=Pool(budget_mb=100, device="cpu")).path


@pytest.fixture
def elsewhere(open_page: Open, squares_run: Path) -> Path:
    """A run of a corpus that no loader here reads, so that its scores are all there is."""
    return Path(shutil.copytree(squares_run, runs_dir() / "squares-1"))


def heads(app: AppTest) -> list[str]:
    return [each.value for each in app.header]


def test_the_furthest_pairs_come_first_with_at_most_24_pictures(open_page: Open, demo: Path) -> None:
    app = open_page(FAILURES)
    assert not app.exception
    moved = [float(each.rpartition("(")[2].split(" SD")[0].replace("−", "-")) for each in heads(app)]
    assert len(moved) == 12
    assert [abs(each) for each in moved] == sorted(map(abs, moved), reverse=True)
    pictures = [image for element in app.image for image in element.proto.imgs]
    assert 12 <= len(pictures) <= 24
    assert all(image.alt for image in pictures)
    assert "Noise band" in texts(app)


def test_a_card_shows_the_pair_under_every_evaluator(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, evaluators="histogram", families="rotation", every="yes")
    tables = [each.value for each in app.markdown if each.value.startswith("| Metric")]
    assert len(tables) == 12
    assert all("paired" in table and "**histogram**" in table for table in tables)


def test_a_card_says_that_the_edit_cut_the_object_and_the_filter_leaves_such_pairs_out(
    open_page: Open, demo: Path
) -> None:
    cut = "The edit cut the object:"
    app = open_page(FAILURES, probes="rotate-10", categories="appliance", sort="absolute")
    assert cut in texts(app)
    whole = open_page(FAILURES, probes="rotate-10", categories="appliance", sort="absolute", whole="yes")
    assert heads(whole)
    assert cut not in texts(whole)


def test_what_was_not_measured_is_not_said_to_be_cut() -> None:
    assert cut_said(float("nan")) == cut_said(None) == cut_said(0.98) == ""
    assert cut_said(0.914) == "The edit cut the object: 91\u00a0% of its mask is left in the image"


def test_changed_words_are_marked_without_colour_alone(open_page: Open, elsewhere: Path) -> None:
    said = texts(open_page(FAILURES, families="cultural"))
    assert "~~" in said
    assert ":blue-background[**" in said


@pytest.mark.parametrize("sort", ["absolute", "percent", "disagreement"])
def test_every_order_is_offered_and_in_the_link(open_page: Open, elsewhere: Path, sort: str) -> None:
    app = open_page(FAILURES)
    app.selectbox(key="failures.sort").set_value(sort).run()
    assert not app.exception
    assert app.query_params["sort"] == sort
    assert {"absolute": " → ", "percent": " %)", "disagreement": "SD apart"}[sort] in heads(app)[0]


def test_a_filter_narrows_the_gallery_and_begins_at_the_first_page(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, page="3", every="yes")
    assert "page 3 of" in texts(app)
    app.multiselect(key="failures.families").set_value(["rotation"]).run()
    assert "**28 pairs** · page 1 of 3" in texts(app)
    assert "page" not in app.query_params
    assert app.query_params["families"] == "rotation"


def test_pages_are_turned_and_stand_in_the_link(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, families="rotation", every="yes")
    first = heads(app)
    app.button(key="failures.turn.Next").click().run()
    assert app.query_params["page"] == "2"
    assert heads(app)[0].startswith("13. ")
    app.button(key="failures.turn.Previous").click().run()
    assert heads(app) == first
    assert "page" not in app.query_params


def test_a_link_opens_the_same_view_in_a_new_session(open_page: Open, elsewhere: Path) -> None:
    query = {
        "sort": "percent",
        "families": "rotation",
        "evaluators": "histogram",
        "page": "2",
        "marks": "none",
        "every": "yes",
    }
    app = open_page(FAILURES, **query, inside="50-100")
    assert not app.warning
    assert {name: app.query_params[name] for name in query} == query
    assert "page 2 of" in texts(app)
    assert all(". histogram " in each for each in heads(app))


def test_a_page_beyond_the_last_is_the_last(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, families="rotation", page="999", every="yes")
    assert "There is no page 999" in texts(app)
    assert "page 3 of 3" in texts(app)


NONSENSE = {
    "sort": "loudness",
    "floor": "3",
    "page": "0",
    "marks": "<b>",
    "record": "[1,2]",
    "families": "nowhere",
    "inside": "90-10",
    "colour": "red",
    "controls": "perhaps",
    "accepted": "101",
}


def test_what_a_link_holds_that_makes_no_sense_is_told_part_by_part(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, **NONSENSE)
    assert not app.exception
    told = next(each.value for each in app.warning if "could not be restored" in each.value).replace("\\", "")
    for said in (
        "'loudness'",
        "'3'",
        "'0'",
        "'<b>'",
        "'[1,2]'",
        "nowhere",
        "'90-10'",
        "'colour'",
        "'perhaps'",
        "'101'",
    ):
        assert said in told
    assert len(heads(app)) == 7  # one card an item
    assert not link_of(app)


@pytest.mark.parametrize(
    "query", [{"page": "1e9"}, {"page": "９"}, {"record": "[" * 5000}, {"page": "9" * 400}], ids=str
)
def test_a_hostile_link_is_a_sentence_and_the_usual_view(
    open_page: Open, elsewhere: Path, query: dict[str, str]
) -> None:
    app = open_page(FAILURES, **query)
    assert not app.exception
    assert any("could not be restored" in each.value for each in app.warning)
    assert not link_of(app)


def test_a_record_opens_from_the_link_with_every_column_and_closes(open_page: Open, demo: Path) -> None:
    app = open_page(FAILURES, record=record_text(CAT), families="vertical-flip")
    assert not app.exception
    told = json.loads(next(each.value for each in app.code if each.value.startswith("[")))
    assert [each["evaluator"] for each in told] == ["conse-lite0", "conse-lite2", "grounding-judge"]
    assert {"seam_energy", "pixels_sha256", "licence", "standardised", "null_percent"} <= set(told[0])
    assert app.query_params["record"] == record_text(CAT)
    table = next(each.value for each in app.dataframe if "column" in each.value)
    assert table["column"].tolist()[:4] == ["score", "baseline_score", "delta", "percent"]


def test_the_button_of_a_card_opens_its_record(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, families="rotation")
    app.button(key="failures.open.0").click().run()
    assert not app.exception
    pair = read_record(app.query_params["record"])
    assert pair is not None
    assert pair["probe"].startswith("rotate")
    assert any(each.value.startswith("[") for each in app.code)


def test_a_record_that_is_not_in_the_runs_is_said_so(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, record=record_text(CAT | {"item": "a dog <b>"}))
    assert not app.exception
    assert any("is not in the runs" in each.value for each in app.warning)
    assert "record" not in app.query_params


def test_a_corpus_that_is_gone_leaves_the_scores_and_one_sentence(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES)
    assert not app.exception
    assert not app.image
    assert len(heads(app)) == 7
    assert "The pictures of corpus squares are missing" in texts(app).replace("\\", "")


def test_a_picture_that_changed_since_the_run_is_not_shown(
    open_page: Open, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pages.views.failures.failure_pictures.picture_hashes", lambda store, pairs: {("demo", "cat"): "0" * 64}
    )
    app = open_page(FAILURES, record=record_text(CAT))
    assert not app.exception
    assert "picture of item 'cat' is not the one that the run scored" in texts(app).replace("\\", "")


def test_find_is_opened_over_a_record(open_page: Open, demo: Path) -> None:
    app = open_page(FAILURES, record=record_text(CAT))
    app.button(key="find").click().run()
    assert not app.exception
    assert app.selectbox(key="find.chosen").options


def test_an_item_has_one_card_that_opens_all_of_its_edits(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, families="rotation")
    assert "The furthest pair of each of **7 items**, of 28 pairs · page 1 of 1" in texts(app)
    assert [each.label for each in app.button if (each.key or "").startswith("failures.more.")] == ["+3 more edits"] * 7
    first = heads(app)[0].partition(". ")[2]
    app.button(key="failures.more.0").click().run()
    assert len(heads(app)) == 4
    assert heads(app)[0].partition(". ")[2] == first
    assert set(link_of(app)) == {"families", "item"}
    app.button(key="failures.item.all").click().run()
    assert len(heads(app)) == 7
    assert set(link_of(app)) == {"families"}


def test_an_item_that_is_not_there_can_be_taken_back(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, item="<b>gone</b>")
    assert not app.exception
    app.button(key="failures.item.all").click().run()
    assert len(heads(app)) == 7


def test_filters_that_leave_nothing_say_which_to_relax(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, families="rotation", modifiers="African", evaluators="histogram")
    assert "leave no pair" in texts(app)
    app.button(key="failures.relax.modifiers").click().run()
    assert not app.exception
    assert heads(app)
    assert app.query_params["families"] == "rotation"
    assert "modifiers" not in app.query_params


def test_every_filter_is_cleared_at_once(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, families="rotation", modifiers="African", categories="vehicle")
    app.button(key="failures.relax.all").click().run()
    assert len(heads(app)) == 7
    assert not link_of(app)


def test_markup_in_a_run_is_shown_and_not_obeyed(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, families="<img src=x onerror=alert(1)>")
    assert not app.exception
    assert "<img" not in "\n".join(
        each.value.replace("\\<", "") for each in (*app.markdown, *app.warning, *app.caption)
    )


def test_a_page_without_runs_says_how_to_make_one(open_page: Open) -> None:
    said = texts(open_page(FAILURES))
    assert "No runs yet" in said
    assert "python -m core audit" in said


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            CAT | {"corpus": "demo", "evaluator": "e", "axis": "spatial"},
            {"item": "cat", "probes": "vflip", "evaluators": "e"},
        ),
        (
            CAT | {"run": "r", "corpus": "x", "probe": "jpeg-95", "subject": "human", "evaluator": "e", "axis": "null"},
            {"corpus": "x", "item": "cat", "probes": "", "evaluators": "e", "subject": "human"},
        ),
    ],
)
def test_the_probe_lab_gets_the_pair_as_it_is(row: dict[str, str], expected: dict[str, str]) -> None:
    assert lab_link(row) == expected


def test_a_finding_links_to_its_family_and_to_its_pair_where_it_names_one() -> None:
    finding = {"family": "rotation", "evaluator": "conse-lite0"}
    assert failures_link(finding) == {"families": "rotation", "evaluators": "conse-lite0", "look": "yes"}
    assert read_record(failures_link(finding | CAT)["record"]) == CAT


@pytest.mark.parametrize("text", ["", "null", "{}", '["a","b"]', '["a","b","c",4]', "NaN", "[" * 100_000])
def test_a_text_that_names_no_pair_is_none(text: str) -> None:
    assert read_record(text) is None


def test_a_pair_of_any_names_comes_back_from_its_link() -> None:
    pair = dict(zip(PAIR, ('run "1"', "ítem/𝕏 ,&?", "human", "cultural:African"), strict=True))
    assert read_record(record_text(pair)) == pair


def test_a_record_lays_one_picture_over_the_other(open_page: Open, demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(failure_pictures, "_slider", lambda **told: drawn.append(told["data"]))
    app = open_page(FAILURES, families="vertical-flip")
    app.button(key="failures.open.0").click().run()
    assert not drawn
    app.toggle(key="failures.record.over").set_value(True).run()
    assert not app.exception
    before, after = (Image.open(BytesIO(b64decode(drawn[-1][each].partition(",")[2]))) for each in ("before", "after"))
    turned = np.asarray(after.convert("RGB"), dtype=float)[::-1]
    assert np.abs(np.asarray(before.convert("RGB"), dtype=float) - turned).mean() < 8  # JPEG, and the object's frame


def test_pictures_of_two_sizes_are_not_laid_over_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failure_pictures, "_slider", lambda **_: pytest.fail("drawn"))
    one, other = (jpeg(np.zeros((4, wide, 3), np.uint8)) for wide in (4, 5))
    assert not failure_pictures.before_after(one, other, alt="", key="k")


def test_the_grid_shows_many_pairs_each_a_way_to_its_record(open_page: Open, demo: Path) -> None:
    app = open_page(FAILURES, layout="grid", families="rotation", every="yes")
    assert not app.exception
    tiles = [each for each in app.button if each.key and each.key.startswith("failures.tile.")]
    pictures = [image for element in app.image for image in element.proto.imgs]
    assert len(tiles) == len(pictures) == 36
    assert all(image.alt for image in pictures)
    cards = heads(open_page(FAILURES, families="rotation", every="yes"))
    assert [each.label for each in tiles[:12]] == [each.partition(". ")[2] for each in cards]
    tiles[1].click().run()
    assert read_record(app.query_params["record"])["run"] == "demo"


def test_the_grid_begins_at_the_first_page(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, families="rotation", every="yes", page="3")
    app.segmented_control(key="failures.layout").set_value("grid").run()
    assert "page 1 of 1" in texts(app)
    assert app.query_params["layout"] == "grid"


def test_a_pair_is_tagged_found_by_its_tag_and_taken_home(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, families="rotation", every="yes")
    assert "failures.tagged" not in {each.key for each in app.multiselect}
    app.button(key="failures.tag.1").click().run()
    app.multiselect(key="failures.tagging.tags").set_value(["bad edit"]).run()
    app.text_area(key="failures.tagging.note").set_value("the *rim* shows").run()
    app.button(key="failures.tagging.save").click().run()
    assert not app.exception
    assert ":blue-badge[:material/label: bad edit]" in texts(app)
    (pair,) = Tags().read().pairs
    app.multiselect(key="failures.tagged").set_value(["bad edit"]).run()
    assert "**1 pair** · page 1 of 1" in texts(app)
    assert app.query_params["tagged"] == "bad edit"
    assert "the \\*rim\\* shows" in texts(app)
    taken = with_tags(
        pd.DataFrame([pair._asdict(), pair._asdict() | {"item": "other"}]),
        Tags().read(),
        narrowed(present(), Scope(runs=("squares-1",))).only(),
    )
    assert taken["tags"].tolist() == ["bad edit", ""]
    assert taken["note"].tolist() == ["the *rim* shows", ""]


def test_a_tag_that_is_none_is_refused_in_the_box(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, families="rotation", every="yes")
    app.button(key="failures.tag.0").click().run()
    app.session_state["failures.tagging.tags"] = ["a,b"]
    app.button(key="failures.tagging.save").click().run()
    assert any("a tag has 1 to 40 characters and no comma" in each.value for each in app.error)
    assert not Tags().read().pairs


def test_tags_that_leave_nothing_are_taken_back(open_page: Open, elsewhere: Path) -> None:
    Tags().put(Pair("squares-1", "gone", "template", "rotate-10", "en", 0), ["bad edit"])
    app = open_page(FAILURES, tagged="bad edit")
    app.button(key="failures.relax.tagged").click().run()
    assert heads(app)


def test_a_tag_of_a_link_that_stands_nowhere_is_said(open_page: Open, elsewhere: Path) -> None:
    app = open_page(FAILURES, tagged="fair")
    assert any("No such tag here" in each.value for each in app.warning)
    assert heads(app)


def test_a_viewer_sees_no_tag_and_cannot_write_one(
    open_page: Open, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(FAILURES, families="rotation", every="yes")
    pair = read_record(_record_of(app))
    Tags().put(Pair(pair["run"], pair["item"], pair["subject"], pair["probe"], "en", 0), ["secret"], "whispered")
    assert "secret" in texts(open_page(FAILURES, families="rotation", every="yes"))
    monkeypatch.setattr(failures_state, "may_operate", lambda: False)
    app = open_page(FAILURES, families="rotation", every="yes")
    assert heads(app)
    assert "secret" not in texts(app)
    assert "whispered" not in texts(app)
    assert not [each for each in app.button if each.key and each.key.startswith("failures.tag.")]


def _record_of(app: AppTest) -> str:
    app.button(key="failures.open.0").click().run()
    return str(app.query_params["record"])


def test_more_like_this_leads_to_the_items_that_an_evaluator_embeds_closest(
    open_page: Open, demo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path / "cache"))
    run = json.loads((demo / "manifest.json").read_text("utf-8"))
    key = next(each["fingerprint"]["key"] for each in run["evaluators"] if each["name"] == "conse-lite0")
    items = pd.read_parquet(demo / "items").drop_duplicates("item").set_index("item")["pixels_sha256"]
    app = open_page(FAILURES, families="vertical-flip", like="cat")
    assert "Nobody has looked at the picture of cat and at another one yet" in texts(app).replace("\\", "")
    near = [name for name in items.index if name != "cat"][:3]
    rows = {items["cat"]: [1.0, 0.0], items[near[0]]: [0.9, 0.1], items[near[1]]: [0.5, 0.5], items[near[2]]: [0.0, 1]}
    shared().embeddings.put_many(key, IMAGE, {name: np.array(row, np.float32) for name, row in rows.items()})
    app = open_page(FAILURES, families="vertical-flip", like="cat")
    assert not app.exception
    assert "cat and the 3 items most like it, by conse-lite0's image embeddings" in texts(app).replace(
        "\\", ""
    ).replace("*", "")
    assert "**4 items**" in texts(app)
    app.button(key="failures.like.all").click().run()
    assert "like" not in app.query_params
    app.button(key="failures.like.0").click().run()
    assert app.query_params["like"]


@pytest.mark.usefixtures("demo")
def test_pictures_that_nobody_opened_are_looked_at_on_a_click(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path / "cache"))  # where the lab of other tests kept nothing
    monkeypatch.setattr(failures_state, "AT_ONCE", 4)
    app = open_page(FAILURES, families="vertical-flip", like="cat")
    button = app.button(key="failures.like.embed")
    assert button.label == "Embed 4 pictures"
    button.click().run()
    assert not app.exception
    assert not app.error
    told = texts(app).replace("\\", "").replace("*", "")
    assert "cat and the 3 items most like it, by conse-lite0's image embeddings" in told
    assert "of 4 pictures that are embedded" in told
    assert app.button(key="failures.like.embed").label == "Embed 4 more pictures"


def test_people_are_asked_for_on_cards_where_they_judged_and_nowhere_else(
    open_page: Open, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[int]()

    def judged(_: object, pairs: pd.DataFrame, **__: object) -> pd.DataFrame:
        asked.append(len(pairs))
        return pairs[["corpus", "item", "subject", "probe"]].head(1).assign(accepted=0.75, votes=4)

    monkeypatch.setattr(failures_view, "verdicts", judged)
    app = open_page(FAILURES)
    assert not asked
    assert "found both versions acceptable" not in texts(app)
    monkeypatch.setattr(failures_view, "any_judged", lambda _: True)
    app.run()
    assert asked == [12]
    said = [each.value for each in app.caption if "found both versions acceptable" in each.value]
    assert said == [f":material/how_to_reg: {as_percent(0.75)} of 4 votes found both versions acceptable"]
