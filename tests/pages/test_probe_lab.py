import re
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from PIL import Image
from streamlit.testing.v1 import AppTest

from core.charts.spec import signed
from core.corpora.images import pixel_hash
from core.corpora.schema import Mask
from core.evaluators.cache import IMAGE, EmbeddingCache
from core.evaluators.pool import shared_pool
from core.probes.titles import title
from core.settings import cache_dir, results_dir
from core.statistics.changes import SURE
from pages.views.common.open_runs import item_ids
from pages.views.probe_lab.lab_state import shared
from tests.analysis.made_runs import scores_of, write_run
from tests.pages.opening import LAB, RUN, Open, led, said, shown, texts, turned


def png(height: int = 60, width: int = 80) -> bytes:
    buffer = BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (height, width, 3), np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def upload(app: AppTest, data: bytes, name: str = "photo.png") -> AppTest:
    app.get_by_key("lab.source").set_value("upload").run()
    return app.file_uploader[0].set_value((name, data, "image/png")).run()


def test_the_demo_corpus_is_there_at_once_with_its_variants(open_page: Open) -> None:
    app = open_page(LAB, evaluators="", probes="vflip,hflip,cultural:African")
    said = texts(app)
    assert not app.exception
    assert [shown(each) for each in heads(app).values()] == [
        "Upside down",
        "Mirrored",
        "There is an African frog.",
    ]
    assert ["<img " in each for each in heads(app).values()] == [True, True, False]
    assert "Choose a metric to see" in said


def test_what_a_link_holds_that_is_not_here_is_told(open_page: Open) -> None:
    app = open_page(LAB, item="no-such-item", probes="vflip,nonsense", evaluators="", upload="0" * 32, colour="red")
    said = texts(app)
    assert "no\\-such\\-item" in said
    assert "nonsense" in said
    assert "upload it again" in said
    assert "colour" in said
    assert app.query_params["probes"] == "vflip"
    assert "colour" not in app.query_params


def test_the_link_follows_what_is_chosen_and_leaves_defaults_out(open_page: Open) -> None:
    app = open_page(LAB, evaluators="")
    app.get_by_key("lab.subject").set_value("free").run()
    app.text_area(key="lab.caption").set_value("a quiet street").run()
    assert app.query_params["caption"] == "a quiet street"
    assert app.query_params["subject"] == "free"
    assert "item" not in app.query_params
    assert "probes" not in app.query_params


def test_a_link_opens_the_same_view_in_a_new_session(open_page: Open) -> None:
    app = open_page(LAB, subject="free", caption="a quiet street", probes="hflip", evaluators="", box="5,5,20,20")
    assert app.text_area(key="lab.caption").value == "a quiet street"
    assert app.text_input(key="lab.box").value == "5,5,20,20"
    assert app.session_state["lab.probes"] == ["hflip"]
    assert app.session_state["lab.evaluators"] == []


def test_reset_all_empties_the_link(open_page: Open) -> None:
    app = open_page(LAB, subject="free", caption="a quiet street", probes="hflip", evaluators="")
    app.button(key="lab.reset").click()
    app.session_state["lab.evaluators"] = []
    app.run()
    assert not app.exception
    assert "caption" not in app.query_params


@pytest.mark.parametrize(
    ("data", "name"),
    [(b"", "empty.png"), (b"not an image", "text.jpg"), (png()[:200], "cut.png"), (png(1, 1), "one.png")],
    ids=["empty", "no image", "cut off", "one pixel"],
)
def test_a_bad_upload_is_one_sentence_and_the_page_stays(open_page: Open, data: bytes, name: str) -> None:
    app = upload(open_page(LAB, evaluators=""), data, name)
    assert not app.exception
    assert len(app.error) == 1
    assert name.replace(".", "\\.") in app.error[0].value


def test_an_upload_is_edited_and_its_caption_probes_need_a_noun(open_page: Open) -> None:
    app = upload(open_page(LAB, evaluators="", probes="vflip,cultural:African,reposition-TL"), png())
    assert "your upload has no mask" in texts(app)
    assert f"item '{app.query_params['upload'][:16]}" not in texts(app).replace("\\", "")
    assert not app.exception
    assert not app.error
    assert "proposed: " in texts(app)
    assert "upload" in app.query_params
    app.text_input(key="lab.label").set_value("bicycle").run()
    assert "There is a bicycle." in texts(app)
    assert "There is an African bicycle." in texts(app)
    assert "proposed: " not in texts(app)


def test_naming_the_object_of_an_upload_says_its_category_too(open_page: Open) -> None:
    words = "cultural:African,economic:cheap,gender:female,emotion:happy"
    app = upload(open_page(LAB, evaluators="", probes=words), png())
    app.text_input(key="lab.label").set_value("Brown dog").run()
    for word in ("an African", "a cheap", "a female", "a happy"):
        assert f"There is {word} brown dog." in texts(app)
    assert app.selectbox(key="lab.category").placeholder == "animal"
    app.text_input(key="lab.label").set_value("astrolabe").run()
    assert "No table knows the category of astrolabe" in texts(app)
    assert "the item has no category" in texts(app)
    app.selectbox(key="lab.category").set_value("indoor").run()
    assert "There is a cheap astrolabe." in texts(app)


def test_an_upload_survives_a_reload_while_the_server_holds_it(open_page: Open) -> None:
    app = upload(open_page(LAB, evaluators="", probes="vflip"), png())
    key = app.query_params["upload"]
    again = AppTest.from_file(app._script_path, default_timeout=120)
    again.run()
    turned(again, LAB)
    for name, value in (("source", "upload"), ("upload", key), ("evaluators", ""), ("probes", "vflip")):
        again.query_params[name] = value
    again.run()
    assert not again.exception
    assert "80 × 60 px" in texts(again)


def test_a_sentence_that_was_typed_of_one_picture_is_not_said_of_the_next(open_page: Open) -> None:
    app = open_page(LAB, evaluators="", probes="vflip", subject="free", caption="A dog is tied to a fire hydrant.")
    app = upload(app, png())
    assert not app.exception
    assert "fire hydrant" not in texts(app)
    assert "proposed: " in texts(app)
    assert "caption" not in app.query_params


def test_encodings_of_a_corpus_outlive_the_server_and_those_of_an_upload_do_not(open_page: Open) -> None:
    def lab(**options: str) -> AppTest:
        shared.clear()  # as a server that was started anew
        st.cache_resource.clear()
        return open_page(LAB, evaluators="conse-lite0", probes="vflip", **options)

    (cache_dir() / "lab.sqlite").unlink(missing_ok=True)
    assert "encodings were kept from before" not in texts(lab())
    assert "encodings were kept from before (100 %)." in texts(lab())
    kept = EmbeddingCache(cache_dir() / "lab.sqlite")
    app = upload(lab(), png())
    app.text_input(key="lab.label").set_value("bicycle").run()
    assert "There is a bicycle." in texts(app)
    image = pixel_hash(np.asarray(Image.open(BytesIO(png()))))
    with shared_pool().lease("conse-lite0") as evaluator:
        fingerprint = evaluator.fingerprint.key
    assert shared().brought.get_many(fingerprint, IMAGE, [image])
    assert not kept.get_many(fingerprint, IMAGE, [image])


@pytest.mark.parametrize(
    "caption", ["x", "word " * 2000, "🦡🦡🦡", "مرحبا بالعالم", "\u202eabc", "**bold** :red[x] $y$", "a\nb"]
)
def test_any_caption_is_scored_and_shown_as_it_is(open_page: Open, caption: str) -> None:
    app = open_page(LAB, subject="free", caption=caption, probes="vflip", evaluators="conse-lite0")
    assert not app.exception
    assert not app.error
    assert "Score of the unedited pair" in texts(app)


def heads(app: AppTest) -> dict[str, str]:
    """What stands at the left of every edit's bars, as HTML, by the edit's name."""
    (table,) = (each.proto.body for each in app.get("html") if "<table" in each.proto.body)
    return dict(re.findall(r'<tr data-edit="(.*?)".*?>(<th scope="row">.*?</th>)', table, re.DOTALL))


DOG = "dog is tied to a fire hydrant."
HYDRANT = f"A {DOG}"


def test_words_are_put_into_the_readers_own_sentence_and_marked(open_page: Open) -> None:
    words = "cultural:American,emotion:happy,gender:typical,mention:2,base,natural-emotion:happy,vflip"
    app = open_page(
        LAB, item="frog-1-10-20", label="dog", subject="free", caption=HYDRANT, probes=words, evaluators="conse-lite0"
    )
    assert not app.exception
    told = said(app).splitlines()
    made = heads(app)
    assert "An <mark>American</mark> dog is tied to a fire hydrant." in made["inserted-cultural:American"]
    assert "A <mark>happy</mark> dog is tied to a fire hydrant." in made["inserted-emotion:happy"]
    assert not any("There is an American dog." in each for each in made.values())
    assert shown(made["inserted-cultural:American"]) == f"An American {DOG} against: An ordinary dog …"
    assert shown(made["inserted-gender:typical"]) == f"A typical {DOG}"  # against the caption as it is
    assert "against: " not in made["base"] + made["vflip"]
    assert "Of “There is a dog.” and the like, not of the caption beside: Bare template." in told
    table = next(each.value for each in app.dataframe if "construction" in each.value).set_index("probe")
    assert "cultural:American" not in table.index
    assert "inserted-cultural:American" not in table.index  # titles on the screen, names in files
    for name, made_of, baseline in [
        ("inserted-cultural:American", "inserted", "inserted-cultural:ordinary"),
        ("inserted-emotion:happy", "inserted", "inserted-emotion:plain"),
        ("inserted-gender:typical", "inserted", "identity"),
        ("base", "template", "identity"),
        ("natural-emotion:happy", "corpus", "natural-emotion:neutralised"),
    ]:
        rows = table.loc[[title(name)]]
        row = rows[rows["construction"] == made_of].iloc[0]
        assert row["baseline"] == title(baseline)
    assert table["caption"][title("inserted-cultural:American")] == f"An American {DOG}"
    assert table["baseline_caption"][title("inserted-cultural:American")] == f"An ordinary {DOG}"
    assert table["construction"][["Upside down", "Unedited"]].isna().all()


def test_a_sentence_that_does_not_say_the_object_is_told_and_never_gives_way_to_the_template(open_page: Open) -> None:
    app = open_page(
        LAB,
        item="frog-1-10-20",
        label="dog",
        subject="free",
        caption="A cat on a mat.",
        evaluators="",
        probes="cultural:American",
    )
    for caption, reason in [
        ("A cat on a mat.", "does not say 'dog' as a separate word"),
        ("A hot dog on a plate.", "'hot dog' is a name by itself"),
        ("An African dog.", "says 'african' already"),
    ]:
        app.text_area(key="lab.caption").set_value(caption).run()
        assert not app.exception
        assert "left out: " in said(app)
        assert reason in said(app)
        assert "American dog" not in said(app)


def test_the_template_is_edited_where_it_is_chosen_and_a_link_may_name_either_construction(open_page: Open) -> None:
    about = {"item": "frog-1-10-20", "label": "dog", "probes": "inserted-cultural:American", "evaluators": ""}
    app = open_page(LAB, subject="template", **about)
    assert app.session_state["lab.probes"] == ["cultural:American"]
    assert "There is an American dog." in texts(app)
    app.get_by_key("lab.subject").set_value("free").run()
    app.text_area(key="lab.caption").set_value("Two dogs play.").run()
    assert "Two <mark>American</mark> dogs play." in heads(app)["inserted-cultural:American"]


def test_the_position_map_is_made_on_demand_and_kept(open_page: Open) -> None:
    app = open_page(LAB, probes="vflip", evaluators="conse-lite0", item="frog-1-10-20")
    assert "7 × 7 places" in texts(app)
    app.button(key="lab.places").click().run()
    assert not app.exception
    assert "49 places" in texts(app)
    assert any("by the object" in image.alt for element in app.image for image in element.proto.imgs)
    assert "49 places" in texts(app.run())


def test_a_view_that_is_drawn_again_leaves_every_part_in_its_place(open_page: Open) -> None:
    """The browser knows a tab by its place on the page; one that moves falls back to the first."""
    app = open_page(LAB, evaluators="conse-lite0", probes="hflip", subject="free", caption="Scored here alone.")

    def places() -> list[int]:
        return [place for place, part in app.main.children.items() if any(each.type == "tab" for each in part)]

    first = places()
    assert first
    app.run()
    assert places() == first


def test_an_empty_caption_asks_for_one(open_page: Open) -> None:
    app = open_page(LAB, subject="free", caption="   ", probes="vflip", evaluators="conse-lite0")
    assert not app.exception
    assert "Name the object or type a caption" in texts(app)


@pytest.mark.parametrize("box", ["1,2,3", "a,b,c,d", "-50,-50,10,10", "nan,1,2,3", "0,0,0,0", "1e400,0,5,5"])
def test_a_box_that_cannot_be_used_is_told_and_the_corpus_mask_stays(open_page: Open, box: str) -> None:
    app = open_page(LAB, box=box, probes="vflip", evaluators="")
    assert not app.exception
    assert any("box" in warning.value for warning in app.warning)


def test_a_painted_mask_that_the_server_no_longer_holds_is_told(open_page: Open) -> None:
    app = open_page(LAB, mask="0" * 32, probes="reposition-TL", evaluators="")
    assert not app.exception
    assert "paint it again" in texts(app)
    assert "mask" not in app.query_params


def test_a_painted_mask_is_the_object_of_its_own_picture_alone(open_page: Open) -> None:
    mask = Mask.from_array(np.indices((342, 512)).sum(axis=0) < 200)
    shared().painted.put("1" * 32, mask, name="a painted mask", size=len(mask.counts), owner="another session")
    app = open_page(LAB, mask="1" * 32, item="frog-1-10-20", probes="reposition-BR", evaluators="")
    assert not app.exception
    assert "object covers 23\u00a0%" in texts(app)  # the tight box of that corner: 200 × 200 of 512 × 342
    other = open_page(LAB, mask="1" * 32, item=item_ids("demo")[5], probes="reposition-BR", evaluators="")
    assert not other.exception
    assert "of another picture" in texts(other)


def test_every_picture_and_chart_has_a_text_for_those_who_cannot_see_it(open_page: Open) -> None:
    app = open_page(LAB, probes="vflip", evaluators="conse-lite0")
    assert not app.exception
    assert app.image
    assert all(image.alt for element in app.image for image in element.proto.imgs)
    tables = [each.proto.body for each in app.get("html") if "<table" in each.proto.body]
    assert len(tables) == 1
    assert 'aria-label="Percent change under conse-lite0: ' in tables[0]


def write_noise(name: str, run: str, *, edits: int = SURE) -> None:
    """Write a run in which every invisible edit moves an evaluator as it is on this machine by 1 %."""
    with shared_pool().lease(name) as loaded:
        known = {"name": name, "fingerprint": {"key": loaded.fingerprint.key}}
    rows = scores_of(("identity", "null:shift1"), edits, lambda probe, _: 0.5 if probe == "identity" else 0.505)
    write_run(
        results_dir() / run, [{**row, "evaluator": name} for row in rows], corpus={"name": "c"}, evaluators=[known]
    )


def test_what_no_run_measured_is_never_called_noise_and_the_way_to_measure_it_is_offered(
    open_page: Open, own_folder: None
) -> None:
    about = {"item": "frog-1-10-20", "evaluators": "conse-lite0,grounding-judge", "probes": "vflip,blur-2,order"}
    write_noise("grounding-judge", "few", edits=SURE - 1)
    bare = said(open_page(LAB, **about))
    assert "Largest change: conse-lite0 −" in bare
    assert "(Upside down), grounding-judge none (at its maximum: only a fall could show). Broken meanings" in bare
    assert "No run tells how far conse-lite0 and grounding-judge move by themselves." in bare
    assert "than noise" not in bare
    assert "Grey is noise" not in bare
    write_noise("grounding-judge", "larger", edits=2 * SURE)
    write_noise("conse-lite0", "own")
    told = open_page(LAB, **about)
    assert "Changed by more than noise: conse-lite0 on 1 of 1 edit, grounding-judge on none" in said(told)
    assert "±1.00 %, n = 20" in said(told)
    assert "No run tells" not in said(told)


def test_a_metric_with_a_run_stands_beside_one_without(open_page: Open, own_folder: None) -> None:
    write_noise("conse-lite0", "own")
    app = open_page(LAB, item="frog-1-10-20", evaluators="conse-lite0,grounding-judge", probes="vflip")
    told = said(app)
    assert "Changed by more than noise: conse-lite0 on 1 of 1 edit. Largest change: grounding-judge none" in told
    assert "No run tells how far grounding-judge moves by itself." in told
    assert "Noise, in grey ±1.00 %, n = 20 not known" in told
    (link,) = [each.proto for each in app.get("page_link") if each.proto.label == "Audit it"]
    assert (led(link), "evaluators=grounding-judge" in link.query_string) == (RUN, True)


def test_the_answer_counts_edits_beyond_the_noise_and_tells_a_score_at_the_end_of_its_scale(
    open_page: Open, own_folder: None
) -> None:
    write_noise("conse-lite0", "own")
    write_noise("grounding-judge", "other")
    about = {"item": "frog-1-10-20", "evaluators": "conse-lite0,grounding-judge"}
    told = said(open_page(LAB, probes="vflip,blur-2,economic:cheap,cultural:African", **about))
    assert (
        "Changed by more than noise: conse-lite0 on 2 of 2 edits, grounding-judge on none "
        "(at its maximum: only a fall could show)." in told
    )
    assert "1 of 4 edits left out: 'cheap frog' (the animal is not one that people buy" in told
    (table,) = (each for each in told.splitlines() if "Score of the unedited pair" in each)
    assert table.index("Edits of the picture") < table.index("Upside down") < table.index("against a neutral word")
    assert "Blurred, σ 2 px, for comparison" in table  # and not among the edits that are counted
    assert "cheap frog" not in table  # it cannot be made: no row of dashes
    broken = said(open_page(LAB, probes="vflip,order", **about))
    assert "Broken meanings lower the score by more than noise: conse-lite0 on" in broken


def test_the_way_to_a_picture_of_ones_own_is_one_button_at_the_top(open_page: Open) -> None:
    app = open_page(LAB, probes="vflip", evaluators="")
    app.button(key="lab.bring").click().run()
    assert app.file_uploader
    assert not [each for each in app.button if each.key == "lab.bring"]


def test_evaluators_that_are_not_here_are_listed_and_never_chosen(open_page: Open) -> None:
    app = open_page(LAB, evaluators="no-such-evaluator,conse-lite0", probes="vflip")
    assert app.session_state["lab.evaluators"] == ["conse-lite0"]
    assert "no\\-such\\-evaluator" in texts(app)


def test_what_a_score_rests_on_is_mapped_on_demand_for_both_pictures(open_page: Open) -> None:
    app = open_page(
        LAB, probes="vflip", evaluators="conse-lite0", item="frog-1-10-20", subject="free", caption="A frog sits."
    )
    assert "each word of the caption left out" in texts(app)
    app.button(key="lab.occluded").click().run()
    assert not app.exception
    maps = [image.alt for element in app.image for image in element.proto.imgs if "a part is hidden" in image.alt]
    assert [alt.rpartition(": ")[2] for alt in maps] == ["Original", "Upside down"]
    words = [list(frame.value["word"]) for frame in app.dataframe if "word" in frame.value]
    assert words == [["A", "frog", "sits."]] * 2
    assert "One scale for both pictures" in texts(app.run())


def test_the_worst_harmless_edit_is_looked_for_on_demand_and_held_against_the_other_evaluators(open_page: Open) -> None:
    app = open_page(LAB, probes="vflip", evaluators="conse-lite0", item="frog-1-10-20")
    assert "60 such edits are tried for each of 1 metric" in texts(app)
    app.button(key="lab.worst").click().run()
    assert not app.exception
    found = next(frame.value for frame in app.dataframe if "worst for" in frame.value)
    assert list(found["worst for"]) == ["conse-lite0"]
    assert found["edit"][0].startswith("turned by")
    assert abs(found["conse-lite0"][0]) > 0
    assert signed(found["conse-lite0"][0], digits=2) in texts(app)
    assert "A lower bound for each metric" in texts(app.run())
    offered = [each.proto.label for each in app.get("download_button")]
    assert {"This picture as PNG", "Every edit that was tried as CSV"} <= set(offered)


def test_points_of_a_sweep_are_drawn_as_a_curve(open_page: Open) -> None:
    about = {"evaluators": "conse-lite0", "item": "frog-1-10-20"}
    app = open_page(LAB, probes="zoom:zoom1,zoom:zoom5,zoom:zoom15,vflip", **about)
    assert not app.exception
    assert "**Zoomed** along its strength" in texts(app)
    alts = [chart.proto.alt for chart in app.get("plotly_chart")]
    assert "Percent change along the strength of Zoomed, by metric" in alts
    assert "along its strength" not in texts(open_page(LAB, probes="zoom:zoom1,zoom:zoom5", **about))


def test_percent_changes_of_a_score_near_nothing_are_told_to_mean_little(open_page: Open, demo: Path) -> None:
    about = {"item": "frog-1-10-20", "probes": "vflip", "evaluators": "conse-lite0", "subject": "free"}
    assert "under a tenth of what is usual" not in texts(open_page(LAB, caption="There is a frog.", **about))
    strange = texts(open_page(LAB, caption="A pizza with cheese.", **about))
    said = re.search(r"The unedited score, ([\d.]+), is under a tenth of what is usual \(([\d.]+)\)", strange)
    assert said is not None
    assert float(said[1]) < 0.1 * float(said[2])
