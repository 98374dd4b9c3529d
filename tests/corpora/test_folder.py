"""A folder of images and whatever lies beside them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from core.corpora.folder import load_folder
from core.corpora.folder_tables import language_code
from core.corpora.schema import Box, Corpus, Item
from core.errors import BadCorpus, InvalidInput
from core.probes.words.categories import absence


def load(root: Path, **options: object) -> Corpus:
    return load_folder.load(root, **options)


def by_id(root: Path, **options: object) -> dict[str, Item]:
    return load(root, **options).by_id()


def codes(corpus: Corpus) -> dict[str, str]:
    return {rejection.subject: rejection.code for rejection in corpus.rejected}


def remarks(corpus: Corpus) -> dict[str, int]:
    return {remark.code: remark.count for remark in corpus.remarks}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three images of 100 × 80 px: cat.jpg, dog.png, more/bird.webp."""
    (tmp_path / "more").mkdir()
    for name in ("cat.jpg", "dog.png", "more/bird.webp"):
        Image.new("RGB", (100, 80), "navy").save(tmp_path / name)
    return tmp_path


@pytest.fixture
def write(folder: Path) -> Callable[[str, object], None]:
    """Write text, lines of JSON (a tuple) or JSON into the folder."""

    def written(name: str, content: object) -> None:
        if isinstance(content, tuple):
            content = "\n".join(json.dumps(line) for line in content)
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")

    return written


Write = Callable[[str, object], None]


def test_images_alone_are_a_corpus(folder: Path) -> None:
    corpus = load(folder)
    assert [item.id for item in corpus.items] == ["cat.jpg", "dog.png", "more/bird.webp"]
    assert corpus.rejected == ()
    item = corpus.items[2]
    assert (item.width, item.height, item.captions, item.label, item.box) == (100, 80, {}, None, None)
    assert item.image_path == folder / "more" / "bird.webp"


def test_the_size_of_an_item_is_that_of_the_upright_image(folder: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (100, 80)).save(folder / "cat.jpg", exif=exif)
    item = by_id(folder)["cat.jpg"]
    assert (item.width, item.height) == (80, 100)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("candidates.json", {"cat": "A cat.", "more/bird.webp": "A bird."}),
        (
            "predictions.jsonl",
            ({"id": 1, "caption": "A cat.", "image": "./cat.jpg"}, {"id": "bird", "prediction": "A bird."}),
        ),
        (
            "predictions.jsonl",
            (
                {"id": 1, "prediction": "A cat.", "image_path": "/data/images/cat.jpg"},
                {"id": 2, "caption": "A bird.", "image": "more\\bird.webp"},
            ),
        ),
        ("captions.csv", "image,caption\ncat.jpg,A cat.\nbird,A bird.\n"),
        ("captions.csv", "\ufeffCaption,Image\r\nA cat.,cat.jpg\r\nA bird.,more/bird.webp\r\n"),
    ],
)
def test_every_format_of_captions_is_found_by_itself(folder: Path, write: Write, name: str, content: object) -> None:
    write(name, content)
    corpus = load(folder)
    assert {item.id: item.captions for item in corpus.items} == {
        "cat.jpg": {"en": ("A cat.",)},
        "dog.png": {},
        "more/bird.webp": {"en": ("A bird.",)},
    }
    assert corpus.rejected == ()
    assert f"captions from {name}" in corpus.description


def test_a_csv_carries_languages_labels_categories_and_boxes(folder: Path, write: Write) -> None:
    write(
        "captions.csv",
        "image,caption,language,label,category,x,y,width,height\n"
        'cat.jpg,"A cat, asleep.",,cat,,20,10,50,40\n'
        "cat.jpg,Eine Katze.,DE,cat,,20,10,50,40\n"
        "cat.jpg,ネコ。,ja,cat,,20,10,50,40\n"
        "dog.png,A gadget.,en,gadget,Electronics,,,,\n",
    )
    corpus = load(folder)
    cat, dog, _ = corpus.items
    assert cat.captions == {"en": ("A cat, asleep.",), "de": ("Eine Katze.",), "ja": ("ネコ。",)}
    assert (cat.label, cat.category, cat.box, cat.others) == ("cat", "animal", Box(20, 10, 50, 40), ())
    assert cat.coverage == 0.25
    assert (dog.label, dog.category, dog.box) == ("gadget", "electronics", None)
    assert corpus.rejected == ()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("boxes.csv", "image,x,y,width,height,label\ncat,20,10,50,40,cat\ncat,0,0,9,9,dog\ndog.png,1,1,20,20,\n"),
        (
            "boxes.json",
            {
                "cat": [{"box": [20, 10, 50, 40], "label": "cat"}, {"box": [0, 0, 9, 9], "label": "dog"}],
                "dog.png": {"box": [1, 1, 20, 20]},
            },
        ),
    ],
)
def test_boxes_lie_in_a_file_of_their_own(folder: Path, write: Write, name: str, content: object) -> None:
    write(name, content)
    write("candidates.json", {"cat": "A cat."})
    corpus = load(folder)
    cat, dog, _ = corpus.items
    assert (cat.label, cat.category, cat.box) == ("cat", "animal", Box(20, 10, 50, 40))
    assert [(other.label, other.box) for other in cat.others] == [("dog", Box(0, 0, 9, 9))]
    assert (dog.label, dog.category, dog.box) == (None, None, Box(1, 1, 20, 20))
    assert cat.captions == {"en": ("A cat.",)}
    assert corpus.description.endswith(f"captions from candidates.json, boxes from {name}")


def test_the_single_object_slice_works_on_boxes(folder: Path, write: Write) -> None:
    write("boxes.csv", "image,x,y,width,height,label\ncat,20,10,50,40,cat\ndog,0,0,50,40,dog\n")
    corpus = load(folder, slice="single-object")
    assert [item.id for item in corpus.items] == ["cat.jpg"]
    assert codes(corpus) == {"dog.png": "truncated", "more/bird.webp": "no-object"}
    assert len(load(folder, slice="single-object", max_touching_sides="2")) == 2
    with pytest.raises(InvalidInput, match="dominance belongs to slice=single-object"):
        load(folder, dominance=3)


def test_several_files_of_captions_need_a_word(folder: Path, write: Write) -> None:
    write("candidates.json", {"cat": "A cat."})
    write("captions.csv", "image,caption\ncat,Another.\n")
    with pytest.raises(
        BadCorpus, match=r"holds candidates\.json and captions\.csv; say .* --option captions=candidates"
    ):
        load(folder)
    assert by_id(folder, captions="captions.csv")["cat.jpg"].captions == {"en": ("Another.",)}


def test_captions_may_lie_elsewhere_or_be_references(
    folder: Path, write: Write, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "system.json"
    elsewhere.write_text('{"cat": "Eine Katze."}')
    assert by_id(folder, captions=str(elsewhere), language="de")["cat.jpg"].captions == {"de": ("Eine Katze.",)}
    write("references.json", {"cat": ["One.", "Two.", "One."]})
    assert load(folder).items[0].captions == {}
    assert by_id(folder, captions="references.json")["cat.jpg"].captions == {"en": ("One.", "Two.")}
    write("references.jsonl", ({"id": "cat", "references": ["Three."]},))
    assert by_id(folder, captions="references.jsonl")["cat.jpg"].captions == {"en": ("Three.",)}


def test_an_image_is_an_image_whatever_its_name(folder: Path) -> None:
    Image.new("RGB", (20, 20)).save(folder / "photo", "PNG")
    Image.new("RGB", (20, 20)).save(folder / "photo.dat", "JPEG")
    (folder / "readme").write_text("no image")
    (folder / "LICENSE.txt").write_text("no image")
    (folder / ".hidden.png").write_bytes((folder / "photo").read_bytes())
    assert set(by_id(folder)) == {"cat.jpg", "dog.png", "more/bird.webp", "photo", "photo.dat"}


def test_broken_images_are_left_out_one_by_one(folder: Path) -> None:
    (folder / "empty.jpg").touch()
    (folder / "text.png").write_text("no image")
    Image.new("RGB", (1, 1)).save(folder / "dot.png")
    corpus = load(folder)
    assert len(corpus) == 3
    assert codes(corpus) == dict.fromkeys(["empty.jpg", "text.png", "dot.png"], "bad-image")
    assert "too small to audit" in {each.subject: each.detail for each in corpus.rejected}["dot.png"]


def test_links_that_leave_the_folder_are_refused(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    Image.new("RGB", (20, 20)).save(outside / "secret.png")
    (folder / "far.png").symlink_to(outside / "secret.png")
    (folder / "linked").symlink_to(outside)
    (folder / "near.jpg").symlink_to("cat.jpg")
    (folder / "dead.jpg").symlink_to("nowhere.jpg")
    corpus = load(folder)
    assert "near.jpg" in corpus.by_id()
    assert codes(corpus) == {"far.png": "unsafe-path", "linked": "linked-folder", "dead.jpg": "bad-image"}


@pytest.mark.parametrize("name", ["../candidates.json", "absent.json", "more"])
def test_a_file_of_captions_that_is_none_is_told(folder: Path, name: str) -> None:
    (folder.parent / "candidates.json").write_text("{}")
    with pytest.raises(InvalidInput, match=r"climbs out of|no file .* name one in"):
        load(folder, captions=name)


def test_entries_that_fit_no_image_or_several_are_left_out(folder: Path, write: Write) -> None:
    Image.new("RGB", (20, 20)).save(folder / "more" / "cat.png")
    write(
        "candidates.json",
        {"cat": "Which?", "cat.jpg": "A cat.", "unicorn": "None.", "../cat.jpg": "Ours, by its name."},
    )
    corpus = load(folder)
    assert codes(corpus) == {"unicorn": "entry-no-image"}
    assert remarks(corpus) == {"entry-ambiguous-image": 1}
    assert corpus.by_id()["cat.jpg"].captions == {"en": ("A cat.", "Ours, by its name.")}
    assert corpus.by_id()["more/cat.png"].captions == {}


def test_cells_that_cannot_be_used_are_left_out_one_by_one(folder: Path, write: Write) -> None:
    write(
        "captions.csv",
        "image,caption,language,label,category,x,y,width,height\n"
        "cat,,,cat,beast,20,10,50,40\n"
        "cat,Chat.,french!,,,,,,\n"
        "dog,A dog.,,dog,,20,10,0,40\n"
        "dog,A dog.,,dog,,500,500,5,5\n"
        "bird,A bird.,,bird,,90,70,30,30\n"
        "bird,A bird.,,bird,,20,,30,30\n"
        "bird,A gremlin.,,,,,,,\n",
    )
    corpus = load(folder)
    assert len(corpus) == 3
    assert corpus.rejected == ()
    assert remarks(corpus) == {
        "bad-category": 1,
        "caption-bad-language": 1,
        "annotation-bad-box": 2,
        "annotation-box-outside": 1,
        "annotation-box-clipped": 1,
    }
    cat, dog, bird = corpus.items
    assert (cat.category, cat.captions) == ("animal", {})
    assert (dog.label, dog.category, dog.box) == ("dog", "animal", None)
    assert bird.box == Box(90, 70, 10, 10)


def test_a_label_without_a_category_is_counted(folder: Path, write: Write) -> None:
    write("captions.csv", "image,caption,label,category\ncat,.,gremlin,\ndog,.,gremlin,animal\nbird,.,gremlin,\n")
    corpus = load(folder)
    assert corpus.rejected == ()
    (rejection,) = corpus.remarks
    assert (rejection.code, rejection.detail[:26]) == ("unmapped-label", "2 items labelled 'gremlin'")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("candidates.json", "{", r"candidates\.json"),
        ("candidates.json", "[]", r"candidates\.json"),
        ("predictions.jsonl", '{"id": 1, "caption": "a"}\n{', "line 2"),
        ("captions.csv", "", "has no column 'image'"),
        ("captions.csv", "image,words\ncat,A cat.\n", "holds no caption; call its column"),
        ("captions.csv", "image,caption,caption\ncat,A,B\n", "may stand once"),
        ("captions.csv", "image,caption\ncat,A cat, asleep.\n", "line 2: another number of cells"),
        ("captions.csv", "image,caption\ncat\n", "line 2: another number of cells"),
        ("captions.csv", 'image,caption\ncat,"open\n', r"captions\.csv, line .*mend the line"),
        ("captions.csv", "image,caption\ncat," + "x" * 200_000 + "\n", "field larger than field limit"),
        ("captions.csv", "image,caption\n,A cat.\n", "line 2: the image is not named"),
        ("boxes.csv", "image,x,y\ncat,1,2\n", "has no column 'width'"),
        ("boxes.json", "[]", "must hold one JSON object"),
        ("boxes.json", '{"cat": [1, 2, 3, 4]}', "the entry of 'cat' needs a box"),
        ("boxes.json", '{"cat": {"label": "cat"}}', "the entry of 'cat' needs a box"),
    ],
)
def test_a_malformed_file_is_told(folder: Path, write: Write, name: str, content: str, sentence: str) -> None:
    write(name, content)
    with pytest.raises(BadCorpus, match=sentence):
        load(folder)


def test_a_caption_of_ten_thousand_characters_is_a_caption(folder: Path, write: Write) -> None:
    long, right_to_left = "word " * 2_000, "قطة 🐈\u2028على السرير"
    write("captions.csv", f'image,caption,language\ncat,{long},en\ncat,"{right_to_left}",ar\n')
    assert by_id(folder)["cat.jpg"].captions == {"en": (long.strip(),), "ar": (right_to_left,)}


def test_options_are_checked(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="slice must be one of all, single-object, got 'some'"):
        load(folder, slice="some")
    with pytest.raises(InvalidInput, match="language must be a code such as en or ja, got 'English'"):
        load(folder, language="English")
    with pytest.raises(InvalidInput, match="no taxonomy map is named 'mine'"):
        load(folder, taxonomy="mine")
    with pytest.raises(InvalidInput, match="limit must be a whole number"):
        load(folder, limit="0")
    corpus = load(folder, limit="2", name="holiday")
    assert [item.corpus for item in corpus.items] == ["holiday"] * 2
    assert (corpus.name, corpus.description[-18:]) == ("holiday", "limited to 2 items")


def test_a_folder_without_images_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(BadCorpus, match="holds no JPEG, PNG, WebP, GIF, TIFF or BMP image"):
        load(tmp_path)


def test_a_file_of_captions_of_another_kind_is_told(folder: Path, write: Write) -> None:
    write("captions.yaml", "cat: A cat.")
    with pytest.raises(BadCorpus, match=r"captions are read from \.json, \.jsonl, .* convert the file"):
        load(folder, captions="captions.yaml")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("en", "en"),
        (" DE ", "de"),
        ("pt_BR", "pt-BR"),
        ("zh-Hans", "zh-Hans"),
        ("gsw", "gsw"),
        ("e", None),
        ("en-", None),
        ("english", None),
        ("", None),
        ("<b>", None),
    ],
)
def test_a_language_code_is_brought_into_one_form(text: str, code: str | None) -> None:
    assert language_code(text) == code


def test_critical_objects_stand_beside_the_caption_that_names_them(folder: Path, write: Write) -> None:
    lines = (
        "image,language,caption,critical_objects,backgrounds,relationships",
        "cat.jpg,en,A cat on a red sofa.,cat; red sofa,room,on",
        "cat.jpg,en,A pet.,,,",
        "cat.jpg,de,Eine Katze.,Katze,,",
        "dog.png,en,A dog.,,,",
    )
    write("captions.csv", "\n".join(lines))
    items = by_id(folder)
    assert items["cat.jpg"].named == {"en": (("cat", "red sofa"), ()), "de": (("Katze",),)}
    assert items["dog.png"].named == {}


def test_finecapeval_s_objects_are_the_critical_ones(folder: Path, write: Write) -> None:
    lines = (
        "image,caption,background,object,relation",
        "cat.jpg,A cat on a red sofa.,room,cat\\;red sofa,cat on red sofa",
        '"dog.png","A dog, a ball.",,dog\\;ball,',
        "cat.jpg,,,,",
    )
    write("FineCapEval.csv", "\n".join(lines))
    items = by_id(folder)
    assert items["cat.jpg"].captions == {"en": ("A cat on a red sofa.",)}
    assert items["cat.jpg"].named == {"en": (("cat", "red sofa"),)}
    assert items["dog.png"].named == {"en": (("dog", "ball"),)}


def test_m_finecap_s_lines_state_language_and_objects(folder: Path, write: Write) -> None:
    line = {"image": "cat.jpg", "language": "de", "caption": "Eine Katze auf dem Sofa.", "critical_objects": ["Katze"]}
    more = {"image": "cat.jpg", "caption": "A cat.", "backgrounds": [], "relationships": ["on"]}
    write("captions.jsonl", f"{json.dumps(line)}\n\n{json.dumps(more)}\n")
    (cat,) = (item for item in by_id(folder).values() if item.captions)
    assert cat.captions == {"de": ("Eine Katze auf dem Sofa.",), "en": ("A cat.",)}
    assert cat.named == {"de": (("Katze",),)}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"critical_objects": "Katze"},
            "captions.jsonl, line 1: critical_objects must be a list of texts, got 'Katze'",
        ),
        ({"critical_objects": [3]}, r"critical_objects must be a list of texts, got '\[3\]'"),
        ({"caption": 3}, "line 1: caption must be a text"),
        ({"image": None}, "line 1: the image is not named"),
        ({"language": 4}, "line 1: language must be a code such as de, got '4'"),
    ],
)
def test_m_finecap_s_broken_lines_are_one_sentence(
    folder: Path, write: Write, change: dict[str, object], sentence: str
) -> None:
    line = {"image": "cat.jpg", "language": "de", "caption": "Eine Katze.", "critical_objects": ["Katze"], **change}
    write("captions.jsonl", json.dumps(line))
    with pytest.raises(BadCorpus, match=sentence):
        load(folder)


def test_boxes_that_all_lie_between_0_and_1_are_shares_of_their_images(
    folder: Path, write: Callable[[str, object], None]
) -> None:
    write("boxes.csv", "image,x,y,width,height,label\ncat,0.2,0.125,0.5,0.5,cat\n")
    assert (by_id(folder)["cat.jpg"].box, remarks(load(folder))["annotation-in-shares"]) == (Box(20, 10, 50, 40), 1)
    write("boxes.csv", "image,x,y,width,height,label\ncat,0.2,0.125,0.5,0.5,cat\ncat,1,1,20,20,dog\n")
    assert (by_id(folder)["cat.jpg"].label, remarks(load(folder))["annotation-bad-box"]) == ("dog", 1)


def test_nobody_says_what_a_folder_with_boxes_was_not_looked_through_for(
    folder: Path, write: Callable[[str, object], None]
) -> None:
    write("boxes.csv", "image,x,y,width,height,label\ncat,20,10,50,40,cat\n")
    assert absence(by_id(folder)["cat.jpg"], "dog")["falsity"] == "presumed"


def test_other_columns_and_files_that_are_not_read_are_named(folder: Path, write: Write) -> None:
    write("captions.csv", "image,caption,site\ncat,A cat.,north\ndog,nan,south\n")
    write("metadata.jsonl", ({"file_name": "cat.jpg", "text": "Else."},))
    corpus = load(folder)
    assert corpus.by_id()["cat.jpg"].captions == {"en": ("A cat.",)}
    assert remarks(corpus) == {"column-passed-over": 1, "file-unread": 1, "caption-empty": 1}
    told = {each.code: each.detail for each in corpus.remarks}
    assert told["column-passed-over"] == "'site' (another value for each picture)"
    assert "metadata.jsonl lies in the folder and is not read" in told["file-unread"]


def test_captions_beside_each_picture_are_read_one_a_line(folder: Path, write: Write) -> None:
    write("cat.txt", "A cat.\n\nA navy cat.\n")
    write("dog.txt", "0 0.5 0.5 0.2 0.2\n")
    assert {key: item.captions for key, item in by_id(folder).items() if item.captions} == {
        "cat.jpg": {"en": ("A cat.", "A navy cat.")}
    }


def test_a_folder_of_folders_has_the_captions_that_lie_beside_its_pictures(folder: Path, write: Write) -> None:
    write("more/metadata.csv", "file_name,text\nbird.webp,A bird.\n")
    assert by_id(folder)["more/bird.webp"].captions == {"en": ("A bird.",)}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("boxes.csv", "image;x;y;width;height;label;Rotation;site\ncat;30;35;40;10;cat;90;a\ndog;1;1;20;20;dog;;b\n"),
        ("boxes.json", {"cat": {"box": [30, 35, 40, 10], "rotation": 90}, "dog": {"box": [1, 1, 20, 20], "angle": 0}}),
        (
            "boxes.json",
            {"cat": {"box": [30, 35, 40, 10], "attributes": {"rotation": 450}}, "dog": {"box": [1, 1, 20, 20]}},
        ),
        ("captions.csv", "image,caption,x,y,width,height,rotation\ncat,A.,30,35,40,10,-90\ndog,A.,1,1,20,20,0\n"),
    ],
)
def test_a_turned_box_is_the_upright_one_around_it(folder: Path, write: Write, name: str, content: object) -> None:
    """A bar of 40 × 10 px about (50, 40), stood on its end."""
    write(name, content)
    corpus = load(folder)
    cat, dog, _ = corpus.items
    assert cat.box is not None
    assert (cat.box.x, cat.box.y, cat.box.width, cat.box.height) == pytest.approx((45, 20, 10, 40))
    assert dog.box == Box(1, 1, 20, 20)
    passed = {"column-passed-over": 1} if "site" in str(content) else {}
    assert remarks(corpus) == {"annotation-turned": 1, **passed}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("boxes.csv", "image;x;y;width;height;rotation\ncat;30,125;35;40,250;10,5;0,000\n"),
        ("captions.tsv", "image\tcaption\tx\ty\twidth\theight\trotation\ncat\tA.\t30,125\t35\t40,250\t10,5\t0,000\n"),
    ],
)
def test_a_box_in_thousandths_of_a_pixel_has_a_decimal_comma(
    folder: Path, write: Write, name: str, content: str
) -> None:
    write(name, content)
    corpus = load(folder, **({} if name == "boxes.csv" else {"captions": name}))
    assert (corpus.items[0].box, remarks(corpus)) == (Box(30.125, 35, 40.25, 10.5), {})


def test_a_turn_that_nobody_can_read_costs_its_box(folder: Path, write: Write) -> None:
    for column, value in (("rotation", "left"), ("rotation", "nan"), ("angle", "0.5"), ("theta", "x")):
        write("boxes.csv", f"image,x,y,width,height,{column}\ncat,30,35,40,10,{value}\n")
        corpus = load(folder)
        assert corpus.items[0].box is None
        assert remarks(corpus) == {"annotation-bad-box": 1}
        assert f"its {column} is '{value}'" in corpus.remarks[0].detail


def test_a_caption_without_end_costs_its_own_line(folder: Path, write: Write) -> None:
    write(
        "captions.jsonl",
        ({"image": "cat.jpg", "caption": "cat " * 2_000_000}, {"image": "cat.jpg", "caption": "A cat."}),
    )
    corpus = load(folder)
    assert corpus.by_id()["cat.jpg"].captions == {"en": ("A cat.",)}
    (told,) = (each.detail for each in corpus.remarks if each.code == "caption-too-long")
    assert told == "a caption of cat.jpg has 8,000,000 characters, at most 100,000 are read"


def test_a_cell_without_end_is_named_by_its_line_with_what_to_do(folder: Path, write: Write) -> None:
    write("captions.csv", f'image,caption\ncat.jpg,"{"cat " * 2_000_000}"\n')
    with pytest.raises(BadCorpus, match=r"line 2: field larger than field limit .*; shorten that cell"):
        load(folder)
