"""Captions are read alike by every command, in the layouts that people have, and a slip is told with its place."""

import gzip
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from core.commands._score_files import read_job
from core.corpora.caption_tables import CaptionTable, parse_caption_table, read_caption_table, read_references
from core.corpora.corpus_files import LeftOut
from core.corpora.folder import load_folder
from core.corpora.image_places import ImageNames
from core.corpora.suites.model import spaced
from core.errors import BadCorpus
from core.yes_no import seen

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
WANTED = {"1.jpg": ("A toy.", "A plush toy, sitting."), "2.jpg": ("An apple.",)}

LAYOUTS = {
    "candidates.json": json.dumps({name: list(texts) for name, texts in WANTED.items()}),
    "captions_val2014.json": json.dumps(
        {"images": [{"id": 7, "file_name": "1.jpg"}, {"id": 8, "file_name": "2.jpg"}],
         "annotations": [{"id": 3, "image_id": 8, "caption": "An apple."},
                         {"id": 2, "image_id": 7, "caption": "A plush toy, sitting."},
                         {"id": 1, "image_id": 7, "caption": "A toy."}]}),
    "dataset_flickr30k.json": json.dumps(
        {"images": [{"filename": name, "imgid": place, "split": "test",
                     "sentences": [{"raw": text, "tokens": text.split()} for text in texts]}
                    for place, (name, texts) in enumerate(WANTED.items())], "dataset": "flickr30k"}),
    "textcaps.json": json.dumps(
        {"dataset_name": "textcaps", "data": [{"image_id": "a1", "image_path": name, "caption_str": text}
                                              for name, texts in WANTED.items() for text in texts]}),
    "samples.json": json.dumps(
        {"samples": [{"filepath": name, "caption": {"_cls": "Classification", "label": text}}
                     for name, texts in WANTED.items() for text in texts]}),
    "list.json": json.dumps([{"file_name": name, "text": text} for name, texts in WANTED.items() for text in texts]),
    "metadata.jsonl": "".join(json.dumps({"file_name": name, "text": text}) + "\r\n"
                              for name, texts in WANTED.items() for text in texts),
    "metadata.csv": 'file_name,text\n1.jpg,A toy.\n1.jpg,"A plush toy, sitting."\n2.jpg,An apple.\n',
    "captions.csv": "\ufeffImage ; CAPTION\n1.jpg;A toy.\n1.jpg;A plush toy, sitting.\n2.jpg;An apple.\n",
    "pandas.csv": ',image,caption\n0,1.jpg,A toy.\n1,1.jpg,"A plush toy, sitting."\n2,2.jpg,An apple.\n',
    "captions.tsv": "image\tcaption\n1.jpg\tA toy.\n1.jpg\tA plush toy, sitting.\n2.jpg\tAn apple.\n",
    "captions.txt": 'image,caption\n1.jpg,A toy.\n1.jpg,"A plush toy, sitting."\n2.jpg,An apple.\n',
    "results_20130124.token": "1.jpg#0\tA toy.\n1.jpg#1\tA plush toy, sitting.\n2.jpg#0\tAn apple.\n",
    "Flickr8k.token.txt": "1.jpg#0\tA toy.\n1.jpg#1\tA plush toy, sitting.\n2.jpg#0\tAn apple.\n",
    "results.csv": "image_name| comment_number| comment\n1.jpg| 0| A toy.\n1.jpg| 1| A plush toy, sitting.\n"
    "2.jpg| 0| An apple.\n",
}  # fmt: skip
"""The same three captions as the tools of the field write them: jmhessel/clipscore, COCO, Karpathy's splits, TextCaps
0.1, FiftyOne 1.5's samples, Hugging Face's imagefolder, spreadsheets, pandas, Flickr8k (Kaggle) and Flickr30k."""


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("packed", [False, True])
def test_every_layout_says_the_same(tmp_path: Path, name: str, packed: bool) -> None:
    path = tmp_path / (name + ".gz" if packed else name)
    data = LAYOUTS[name].encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    found = read_references(path)
    assert {picture: texts for picture, texts in found.items() if picture in WANTED} == WANTED


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_folder_has_its_captions_whichever_layout_it_is_given(tmp_path: Path, name: str) -> None:
    for picture in WANTED:
        Image.new("RGB", (40, 30)).save(tmp_path / picture)
    (tmp_path / name).write_bytes(LAYOUTS[name].encode())
    corpus = load_folder.load(tmp_path, captions=name)
    assert {item.id: item.captions["en"] for item in corpus.items} == WANTED
    assert corpus.rejected == ()


def test_text_of_windows_is_read(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_bytes("image\tcaption\n1.jpg\tEin Spielzeug für Käthe.\n".encode("utf-16"))
    assert read_references(tmp_path / "c.csv") == {"1.jpg": ("Ein Spielzeug für Käthe.",)}


def one(text: str, name: str = "p.jsonl") -> list[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    rows = parse_caption_table(text.encode(), name=name).rows()
    return [(row.key, row.image, row.captions, row.references) for row in rows]


def test_a_captioners_caption_comes_before_one_by_people() -> None:
    line = '{"id": "a", "caption": "A toy.", "prediction": "A bear."}'
    assert one(line) == [("a", "", ("A bear.",), ("A toy.",))]
    line = '{"id": 3, "prediction": "A bear.", "references": ["A toy.", ""], "caption": "Else."}'
    assert one(line) == [("3", "", ("A bear.",), ("A toy.",))]


@pytest.mark.parametrize("nothing", ["null", "NaN", '""', '" "', '"nan"', '"None"', "[]", "[null]"])
def test_what_is_no_caption_is_an_empty_one(nothing: str) -> None:
    text = '{"id": "a", "caption": %s}\n{"id": "b", "caption": "A toy."}'
    rows = one(text % nothing)
    assert [said[0].strip() for _, _, said, _ in rows] == ["", "A toy."]


def test_signs_that_nobody_sees_are_no_caption_and_make_no_other_one() -> None:
    held = {"a": "\u200b" * 9, "b": ["\u2800\u3164\u200d", "A\u200b cat.\ufeff"], "c": "می\u200cخواهم و می\u200cروم"}
    rows = parse_caption_table(json.dumps(held).encode(), name="a.json").rows()
    assert [row.captions for row in rows] == [("",), ("", "A cat."), (held["c"],)]
    (row,) = parse_caption_table(
        "image,caption\n1,\u200b\u200b\u200b \u200b\u200b\u200b\u200b\u200b\n".encode(), name="a.csv"
    ).rows()
    assert row.captions == ("",)
    assert spaced("A\u200b  cat.\ufeff") == "A cat."


def test_numbers_that_pandas_made_fractions_of_are_whole() -> None:
    assert one('{"image_id": 391895.0, "caption": "A toy."}')[0][0] == "391895"
    assert one("image_id,caption\n391895.0,A toy.\n", "p.csv")[0][0] == "391895"


def test_the_id_of_a_caption_is_not_taken_for_that_of_its_picture(tmp_path: Path) -> None:
    """COCO's annotations without the rest of the file: both are whole numbers from 1."""
    held = [{"id": 1, "image_id": 2, "caption": "Of two."}, {"id": 2, "image_id": 1, "caption": "Of one."}]
    (tmp_path / "r.json").write_text(json.dumps(held))
    assert read_references(tmp_path / "r.json") == {"2": ("Of two.",), "1": ("Of one.",)}
    assert one('{"id": 7, "image": "a.jpg", "image_id": 3, "caption": "A toy."}')[0][:2] == ("7", "a.jpg")


def test_a_place_in_karpathys_file_is_no_number_of_cocos(tmp_path: Path) -> None:
    """Many of COCO's numbers are also places in dataset_coco.json: a caption met another picture's references."""
    images = [
        {
            "filename": f"COCO_val2014_{own:012d}.jpg",
            "imgid": at,
            "cocoid": own,
            "sentences": [{"raw": f"Of {own}."}],
        }
        for own, at in ((139, 5), (5, 139), (7, 9))
    ]
    (tmp_path / "dataset_coco.json").write_text(json.dumps({"images": images, "dataset": "coco"}))
    (tmp_path / "results.json").write_text(json.dumps([{"image_id": own, "caption": "A toy."} for own in (139, 5, 7)]))
    (tmp_path / "photos").mkdir()
    for image in images:
        Image.new("RGB", (40, 30)).save(tmp_path / "photos" / str(image["filename"]))
    job = read_job(tmp_path / "results.json", tmp_path / "photos", tmp_path / "dataset_coco.json")
    assert {line.id: line.references for line in job.lines} == {str(own): (f"Of {own}.",) for own in (139, 5, 7)}
    del images[0]["cocoid"], images[1]["cocoid"]
    (tmp_path / "dataset_coco.json").write_text(json.dumps({"images": images}))
    job = read_job(tmp_path / "results.json", tmp_path / "photos", tmp_path / "dataset_coco.json")
    assert {line.id: line.references for line in job.lines} == {str(own): (f"Of {own}.",) for own in (139, 5, 7)}


@pytest.mark.parametrize("no", ['"false"', "0.0", "NaN", "null", '""'])
def test_captions_that_vizwiz_rejects_are_left_out_and_no_others(tmp_path: Path, no: str) -> None:
    told = '{"image_id": "1", "caption": "%s", "is_rejected": %s, "is_precanned": %s}'
    lines = [told % ("A toy.", no, no), told % ("No picture.", "true", no), told % ("Too dark.", no, '"True"')]
    (tmp_path / "r.jsonl").write_text("\n".join(lines))
    images = '{"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": ['
    (tmp_path / "r.json").write_text(images + ",".join(lines) + "]}")
    assert read_references(tmp_path / "r.jsonl") == {"1": ("A toy.",)}
    assert read_references(tmp_path / "r.json") == {"a.jpg": ("A toy.",), "1": ("A toy.",)}


def test_a_quote_that_swallows_lines_of_a_tab_table_is_refused() -> None:
    with pytest.raises(BadCorpus, match="line 3: a cell begins with a quote"):
        one('image\tcaption\n1.jpg\t"A toy\n2.jpg\tAn apple"\n', "p.tsv")
    assert one('sep=;\nimage;caption\n1.jpg;"A\ntoy."\n', "p.csv") == [("1.jpg", "1.jpg", ("A\ntoy.",), ())]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("c.json", "[]", "must hold {image: caption} or"),
        ("c.json", "3", "must hold"),
        ("c.json", '{"a": 3}', "the caption of 'a' must be a text or a list of texts, got 3"),
        ("c.json", '{"a": ["x", 3]}', "the caption of 'a'"),
        ("c.json", '{"a": "x", "a": "y"}', "holds 'a' twice"),
        ("c.json", '{"a": "x"', "is not valid JSON"),
        ("c.json", "[" * 100_000, "is not valid JSON"),
        ("c.json", "", "is not valid JSON"),
        ("c.json", '[{"image_id": 1, "caption": "x"}, 3]', "entry 2 must be"),
        ("c.json", '{"images": [{"id": 1}], "annotations": [{"image_id": [1]}]}', "entry 1 must be"),
        ("p.jsonl", '{"id": "a", "caption": "x"}\n{"caption": "y"}', "line 2: id must"),
        ("p.jsonl", '{"id": true, "caption": "x"}', "line 1: the image must be"),
        ("p.jsonl", '{"id": "a", "caption": {"a": 3}, "b": 2}\n{', "line 2 is not valid JSON"),
        ("p.jsonl", '{"id": "a", "caption": "x", "image": 3.5}', "line 1: the image must be a text or a whole number"),
        ("p.jsonl", '{"id": "a", "caption": "x"} trailing', "line 1 is not valid JSON"),
        ("p.jsonl", "3", "line 1 must be a JSON object"),
        ("c.csv", "", "is empty"),
        ("c.csv", "picture,A\n", "no column names the image"),
        ("c.csv", "image,Caption,caption \n", "each name may stand once"),
        ("c.csv", "image,caption\n1,x,y\n", "line 2: another number of cells than the first line, 3"),
        ("c.csv", "image,caption\n,x\n", "line 2: the image is not named"),
        ("c.csv", 'image,caption\n1,"x\n', "mend the line"),
        ("c.token", "1.jpg A toy.\n", "name#number, a tab"),
        ("c.token", "1.jpg#0\tA toy.\n2.jpg\n", "line 2 must be name#number"),
        ("c.yaml", "a: b", "is of no kind that is read"),
        ("c.json.gz", "{}", "cannot be unpacked"),
    ],
)
def test_a_slip_is_told_with_its_place(name: str, text: str, said: str) -> None:
    with pytest.raises(BadCorpus) as raised:
        list(parse_caption_table(text.encode(), name=name).rows())
    assert said in str(raised.value)
    assert name in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match=r"absent\.json cannot be read \(No such file"):
        read_caption_table(tmp_path / "absent.json")
    (tmp_path / "photo.json").write_bytes(b"\xff\xd8\xff\xe0")
    with pytest.raises(BadCorpus, match="is not UTF-8 text"):
        read_caption_table(tmp_path / "photo.json")


@given(candidates=st.dictionaries(TEXTS.filter(str.strip), TEXTS.filter(lambda text: len(text) > 8)))
def test_candidates_come_back_as_written_but_for_unseen_signs_in_their_order(candidates: dict[str, str]) -> None:
    table = CaptionTable("c.json", json.dumps(candidates), ".json")
    assert [(row.key, row.captions) for row in table.rows()] == [
        (key, (seen(text),)) for key, text in candidates.items()
    ]


@given(st.binary(max_size=80), st.sampled_from(["a.json", "a.jsonl", "a.csv", "a.tsv", "a.txt", "a.token", "a.csv.gz"]))
def test_whatever_comes_is_read_or_refused_in_words(data: bytes, name: str) -> None:
    with suppress(BadCorpus):
        assert all(row.picture for row in parse_caption_table(data, name=name).rows())


@pytest.mark.parametrize("cells", ["image;CLIPScore\n1;0,512\n", "image,CLIPScore\n1,0.512\n"])
def test_scores_are_no_captions_to_be_scored(tmp_path: Path, cells: str) -> None:
    (tmp_path / "s.csv").write_text(cells)
    with pytest.raises(BadCorpus, match=r"column 'CLIPScore' holds numbers such as '0[.,]512' and"):
        read_job(tmp_path / "s.csv", tmp_path, None)


FILES = (
    "COCO_val2014_000000391895.jpg",
    "val/000000000139.jpg",
    "more/caf\u00e9.PNG",
    "more/x.jpg",
    "rest/x.jpg",
    "IMG_0007.jpg",
    "12.jpg",
)


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("391895", FILES[0]),
        ("391895.0", FILES[0]),
        ("000000391895.jpg", None),
        ("139", FILES[1]),
        ("val\\000000000139.jpg", FILES[1]),
        ("./val/000000000139", FILES[1]),
        ("/data/coco/val/000000000139.jpg", FILES[1]),
        ("train/000000000139.jpg", None),
        ("cafe\u0301", FILES[2]),
        ("CAF\u00c9.png", FILES[2]),
        ("x", "several"),
        ("more/x", "more/x.jpg"),
        ("7", None),
        ("0007", None),
        ("12", "12.jpg"),
        ("img_0007.JPG", FILES[5]),
        ("val%2F000000000139.jpg?width=640", FILES[1]),
        ("https://host/more/caf%C3%A9.png", FILES[2]),
        ("", None),
    ],
)
def test_a_picture_goes_by_path_name_stem_or_cocos_number(named: str, meant: str | None) -> None:
    names = ImageNames(FILES)
    find: Callable[[], str] = lambda: names.meant(named)  # noqa: E731
    if meant in FILES:
        assert find() == meant
        return
    with pytest.raises(LeftOut) as raised:
        find()
    assert raised.value.code == ("entry-ambiguous-image" if meant == "several" else "entry-no-image")


def test_a_line_of_flickr30k_without_its_bar_costs_that_line(tmp_path: Path) -> None:
    """Line 19 999 of Kaggle's results.csv (hsankesara, version 1) lacks the bar before its caption."""
    path = tmp_path / "results.csv"
    path.write_text(
        'image_name| comment_number| comment\n2.jpg| 3| The dog "Rex" runs .\n'
        "2.jpg| 4   A dog runs .\n3.jpg| 0| A cat .\n"
    )
    rows = list(read_caption_table(path).rows())
    assert [(row.image, row.captions) for row in rows] == [
        ("2.jpg", ('The dog "Rex" runs .',)),
        ("2.jpg", ("",)),
        ("3.jpg", ("A cat .",)),
    ]
    path.write_text("image|comment\n2.jpg|a|b\n")
    with pytest.raises(BadCorpus, match="line 2: another number of cells"):
        list(read_caption_table(path).rows())


def test_docci_describes_its_pictures() -> None:
    line = '{"split": "test", "example_id": "test_0", "image_file": "test_0.jpg", "description": "A cat sits."}'
    assert one(line) == [("test_0.jpg", "test_0.jpg", ("A cat sits.",), ())]


def test_a_cell_that_holds_a_list_as_json_is_a_list_of_captions() -> None:
    """A row of nlphuji/flickr30k's flickr_annotations_30k.csv; a caption that only begins with a bracket is one."""
    text = 'raw,sentids,filename,img_id\n"[""A dog ."", ""A pet .""]","[0, 1]",1.jpg,0\n[sic] a dgo,[],2.jpg,1\n'
    rows = list(parse_caption_table(text.encode(), name="a.csv").rows())
    assert [(row.image, row.captions) for row in rows] == [
        ("1.jpg", ("A dog .", "A pet .")),
        ("2.jpg", ("[sic] a dgo",)),
    ]


@pytest.mark.parametrize("read", [lambda path: list(read_caption_table(path).whole_rows()), read_references])
def test_a_caption_without_end_is_refused_by_its_entry_where_none_is_left_out(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    path = tmp_path / "candidates.json"
    path.write_text(json.dumps({"1": "a cat", "2": "cat " * 2_000_000}), encoding="utf-8")
    with pytest.raises(BadCorpus) as told:
        read(path)
    said = "entry 2 (2): a caption has 8,000,000 characters, at most 100,000 are read; shorten it"
    assert str(told.value) == f"{path}, {said}"
