"""Suites in the layouts of their publishers, tiny, and files that are none."""

import json
from pathlib import Path

import pytest

from core.corpora.score_files import read_text_scores
from core.corpora.suites.model import ACCURACY, TAU_B, TAU_C, Compared, Rated, Suite, only_images, with_references
from core.corpora.suites.suite_files import read_suite, read_suites
from core.errors import BadCorpus, InvalidInput


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


FLICKR = {
    "1056338697_4f7d7ce270": {
        "image_path": "images/1056338697_4f7d7ce270.jpg",
        "ground_truth": ["A blond woman in a blue shirt ."],
        "human_judgement": [
            {"image_path": "images/1056338697_4f7d7ce270.jpg", "caption": "A  man in a green hat .", "rating": 1.0},
            {"image_path": "images/1056338697_4f7d7ce270.jpg", "caption": "A woman waits .", "rating": float("nan")},
        ],
    }
}


def test_clipscore_s_flickr8k_leaves_ratings_out_that_are_no_number(tmp_path: Path) -> None:
    expert = read_suite(written(tmp_path, "flickr8k.json", FLICKR))
    crowd = read_suite(written(tmp_path, "crowdflower_flickr8k.json", FLICKR))
    assert (expert.name, expert.convention, expert.left_out) == ("Flickr8k-Expert", TAU_C, 1)
    assert (crowd.name, crowd.convention) == ("Flickr8k-CF", TAU_B)
    known = ("A blond woman in a blue shirt .",)
    assert expert.rated == (Rated("images/1056338697_4f7d7ce270.jpg", "A man in a green hat .", 1.0, references=known),)


def test_a_rating_of_an_own_reference_is_dropped_counted_and_kept_on_demand(tmp_path: Path) -> None:
    tokens = "a.jpg#0\tA dog .\na.jpg#1\tA dog runs .\nb.jpg#0\tA cat .\n"
    written(tmp_path, "Flickr8k.token.txt", tokens)
    path = written(tmp_path, "ExpertAnnotations.txt", "a.jpg\ta.jpg#0\t4\t4\t3\na.jpg\tb.jpg#0\t1\t1\t2\n")
    usual, kept = read_suite(path), read_suite(path, keep_self_references=True)
    assert {each.caption for each in usual.rated} == {"A cat ."}
    assert usual.rated[0].references == ("A dog .", "A dog runs .")
    assert (len(usual.rated), len(kept.rated)) == (3, 6)
    assert kept.rated[0] == Rated("a.jpg", "A dog .", 4.0, references=("A dog runs .",))
    for suite, said in ((usual, "dropped"), (kept, "kept")):
        decision = next(each for each in suite.decisions if each.id == "self-references")
        assert (decision.count, decision.of) == (3, "ratings, of 1 captions")
        assert said in decision.done


def test_references_are_drawn_by_image_and_draw_the_same_for_both_captions() -> None:
    many = tuple(f"reference {number}" for number in range(48))
    suite = Suite("Pascal-50S", ACCURACY, (), tuple(Compared(name, "x", "y", references=many) for name in "abab"))
    draws = [with_references(suite, 5, draw=draw).compared for draw in range(5)]
    assert len({draw[0].references for draw in draws}) == 5
    for draw in draws:
        assert draw[0].references == draw[2].references != draw[1].references
        assert len(draw[0].references) == 5
        assert list(draw[0].references) == [each for each in many if each in draw[0].references]
    assert with_references(suite, 5).compared == draws[0]
    assert with_references(suite, 99) == suite


def test_a_split_keeps_the_images_that_it_names(tmp_path: Path) -> None:
    suite = read_suite(written(tmp_path, "flickr8k.json", FLICKR))
    assert only_images(suite, ["1056338697_4f7d7ce270"]).rated == suite.rated
    none = only_images(suite, ["2"])
    assert (none.rated, none.decisions[-1].count) == ((), 1)


def test_several_files_are_one_suite_and_their_decisions_are_added(tmp_path: Path) -> None:
    one = {"coco": [{"image": "a.jpg", "caption": "a dog", "human": 4, "references": ["a dog", "a hound"]}]}
    other = {"flickr8k": [{"image": "b.jpg", "caption": "a cat", "human": 1, "references": ["a cat"]}]}
    paths = [written(tmp_path, "coco.json", one), written(tmp_path, "flickr8k.json", other)]
    suite = read_suites(paths)
    assert suite.rated == (
        Rated("a.jpg", "a dog", 4.0, "coco", references=("a hound",)),
        Rated("b.jpg", "a cat", 1.0, "flickr8k"),
    )
    assert {each.id: each.count for each in suite.decisions} == {"pooled": 2, "own-reference": 2}
    with pytest.raises(InvalidInput, match="once"):
        read_suites([paths[0], paths[0]])
    with pytest.raises(InvalidInput, match="Composite and Flickr8k-Expert are two suites"):
        read_suites([paths[0], written(tmp_path, "expert.json", FLICKR)])


BATTLE = {
    "img": "a.jpg",
    "source1": "A",
    "source2": "B",
    "caption1": "one",
    "caption2": "two",
    "winner": "B",
    "ref": "a person's",
    "cluster": "hard",
}


def test_caparena_s_battles_name_their_captioners(tmp_path: Path) -> None:
    more = [{**BATTLE, "winner": "equal"}, {**BATTLE, "source1": "human"}, {**BATTLE, "caption2": None}]
    suite = read_suite(written(tmp_path, "caparena_annots_eval.json", [BATTLE, *more]))
    assert suite.compared == (
        Compared("a.jpg", "two", "one", "hard", ("a person's",), ("B", "A")),
        Compared("a.jpg", "one", "two", "hard", ("a person's",), ("A", "B"), tied=True),
    )
    assert (suite.name, suite.convention, suite.left_out) == ("CapArena", ACCURACY, 2)
    assert {each.id: each.count for each in suite.decisions} == {"people-as-system": 1, "undecided": 1}


def test_the_raw_flickr8k_files_find_their_captions_in_the_token_file(tmp_path: Path) -> None:
    written(tmp_path, "Flickr8k.token.txt", "b.jpg#2\tA dog runs .\nb.jpg#3\tA dog .\n")
    expert = read_suite(written(tmp_path, "ExpertAnnotations.txt", "a.jpg\tb.jpg#2\t1\t2\t1\n"))
    crowd = read_suite(
        written(tmp_path, "CrowdFlowerAnnotations.txt", "a.jpg\tb.jpg#3\t0.3333\t1\t2\na.jpg\tb.jpg#9\t0\t0\t3\n")
    )
    assert [each.rating for each in expert.rated] == [1.0, 2.0, 1.0]
    assert crowd.rated == (Rated("a.jpg", "A dog .", 0.3333),)
    assert crowd.left_out == 1
    with pytest.raises(BadCorpus, match="5 columns"):
        read_suite(written(tmp_path, "ExpertAnnotations.txt", "a.jpg\tb.jpg#2\n"))


def test_a_raw_file_without_its_tokens_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match=r"Flickr8k\.token\.txt"):
        read_suite(written(tmp_path, "ExpertAnnotations.txt", "a.jpg\tb.jpg#2\t1\t2\t1\n"))


def test_pascal_50s_puts_the_labelled_caption_first(tmp_path: Path) -> None:
    held = {
        "HC": [{"image": "2008_1.jpg", "captions": ["a cat", "a dog"], "label": 1, "references": ["a dog"]}],
        "MM": [
            {"image": "2008_2.jpg", "captions": ["a bus", "a car"], "label": 0, "references": []},
            {"image": "2008_3.jpg", "captions": ["a bus"], "label": 0},
        ],
    }
    suite = read_suite(written(tmp_path, "pascal_50s.json", held))
    assert (suite.name, suite.convention, suite.left_out) == ("Pascal-50S", ACCURACY, 1)
    assert suite.compared == (
        Compared("2008_1.jpg", "a dog", "a cat", "HC"),
        Compared("2008_2.jpg", "a bus", "a car", "MM"),
    )
    assert next(each.count for each in suite.decisions if each.id == "own-reference") == 1  # "a dog" itself


def test_composite_comes_as_json_or_as_the_publisher_s_csv(tmp_path: Path) -> None:
    held = {"flickr8k": [{"image": "a.jpg", "caption": "a dog", "human": 4}], "coco": []}
    suite = read_suite(written(tmp_path, "composite.json", held))
    assert (suite.name, suite.convention) == ("Composite", TAU_C)
    assert suite.rated == (Rated("a.jpg", "a dog", 4.0, "flickr8k"),)
    text = (
        '"Input.image_url";"Input.text1";"Input.text2";"Answer.Q1Answer";"Answer.Q2Answer"\n'
        '"http://host/8k/a.jpg";"a dog; running";"a bus";"5";"1"\n'
        '"http://host/8k/b.jpg";"a cat";"";"";"2"\n'
    )
    suite = read_suite(written(tmp_path, "8k_correctness.csv", text))
    assert suite.rated == (
        Rated("a.jpg", "a dog; running", 5.0, "8k", dimension="correctness"),
        Rated("a.jpg", "a bus", 1.0, "8k", dimension="correctness"),
    )
    assert suite.left_out == 2
    other = written(tmp_path, "8k_throughness.csv", text.replace('"5"', '"3"'))  # as its publisher spells it
    both = read_suites([tmp_path / "8k_correctness.csv", other])
    assert [(each.rating, each.dimension) for each in both.rated] == [
        (5.0, "correctness"),
        (1.0, "correctness"),
        (3.0, "thoroughness"),
        (1.0, "thoroughness"),
    ]


def test_foil_pairs_each_foil_with_its_caption(tmp_path: Path) -> None:
    held = {
        "images": [{"id": 9, "file_name": "COCO_val2014_000000000009.jpg"}],
        "annotations": [
            {"id": 1, "image_id": 9, "caption": "A dog on a bed", "foil": False},
            {"id": 1, "image_id": 9, "caption": "A cat on a bed", "foil": True},
            {"id": 2, "image_id": 9, "caption": "An orphan", "foil": True},
        ],
    }
    suite = read_suite(written(tmp_path, "foilv1.0_test_2017.json", held))
    assert suite.compared == (Compared("COCO_val2014_000000000009.jpg", "A dog on a bed", "A cat on a bed"),)
    assert (suite.name, suite.left_out) == ("FOIL", 1)


CAPEVAL: list[dict[str, object]] = [
    {"image": "a.jpg", "language": "en", "caption": "A  dog .", "score": 0.75, "references": ["A dog runs .", " "]},
    {"image": "a.jpg", "language": "de", "caption": "Ein Hund .", "score": 0},
    {"image": "a.jpg", "language": "?", "caption": "Un chien .", "score": 1},
    {"image": "b.jpg", "language": "de", "caption": "Ein Haus .", "score": "none"},
]


def test_m_capeval1k_comes_as_lines_or_as_csv(tmp_path: Path) -> None:
    wanted = (
        Rated("a.jpg", "A dog .", 0.75, "en", "en", ("A dog runs .",)),
        Rated("a.jpg", "Ein Hund .", 0.0, "de", "de"),
    )
    lines = read_suite(written(tmp_path, "capeval.jsonl", "\n".join(map(json.dumps, CAPEVAL))))
    table = read_suite(
        written(
            tmp_path,
            "capeval.csv",
            "image,language,caption,score,references\na.jpg,en,A dog .,0.75,A dog runs .|\na.jpg,de,Ein Hund .,0,\n"
            "a.jpg,?,Un chien .,1,\nb.jpg,de,Ein Haus .,,\n",
        )
    )
    assert lines == table
    assert (lines.name, lines.convention, lines.rated, lines.left_out) == ("M-CapEval1k", TAU_C, wanted, 2)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.jsonl", json.dumps({**CAPEVAL[0], "score": 4}), "line 1: score must lie between 0 and 1, got 4"),
        ("x.jsonl", json.dumps({"image": "a.jpg"}), "holds no line with image, language, caption, score; it has 1"),
        ("x.jsonl", "[]", "line 1 must be a JSON object"),
        ("x.csv", "image,caption,score\na.jpg,A dog.,1\n", "M-CapEval1k needs image, language, caption, score"),
        ("x.csv", "image,language,caption,score,extra\n", "and may have references"),
    ],
)
def test_m_capeval1k_s_bad_files_are_one_sentence(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    with pytest.raises(BadCorpus, match=sentence):
        read_suite(written(tmp_path, name, content))


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", "5", '{"a": 1}', '{"a": {"b": 1}}', '{"HC": [3]}', '{"annotations": [3]}', "[" * 99_999]
)
def test_files_of_another_kind_are_one_sentence(tmp_path: Path, content: str) -> None:
    with pytest.raises(BadCorpus):
        read_suite(written(tmp_path, "x.json", content))
    with pytest.raises(BadCorpus):
        read_suite(written(tmp_path, "x.csv", content))
    with pytest.raises(BadCorpus, match="cannot be read"):
        read_suite(tmp_path / "none.json")


def judged(*ratings: float) -> dict[str, object]:
    entries = [{"image_path": "a.jpg", "caption": f"a {place}", "rating": each} for place, each in enumerate(ratings)]
    return {"a": {"image_path": "a.jpg", "ground_truth": [], "human_judgement": entries}}


@pytest.mark.parametrize(
    ("name", "ratings", "suite"),
    [
        ("flickr8k_crowd.json", (0, 1 / 3, 2 / 3, 1), "Flickr8k-CF"),
        ("flickr8k.json", (0, 1), "Flickr8k-CF"),
        ("flickr8k_cf.json", (1, 2, 4), "Flickr8k-Expert"),
        ("mine.json", (1, 4), "Flickr8k-Expert"),
        ("flickr8k.json", (1, 1), "Flickr8k-Expert"),
        ("crowdflower_flickr8k.json", (1, 1), "Flickr8k-CF"),
        ("mine.json", (1, 1), None),
        ("flickr8k.json", (0, 4), None),
        ("flickr8k.json", (1, 2.5), None),
        ("flickr8k_cf.json", (0, 100), None),
        ("flickr8k_cf.json", (-0.5, 1), None),
    ],
)
def test_ratings_and_not_the_name_tell_flickr8k_cf_from_expert(
    tmp_path: Path, name: str, ratings: tuple[float, ...], suite: str | None
) -> None:
    path = written(tmp_path, name, judged(*ratings))
    if suite is None:
        with pytest.raises(BadCorpus, match="Flickr8k-Expert are whole, 1 to 4, those of Flickr8k-CF shares"):
            read_suite(path)
    else:
        assert (read_suite(path).name, read_suite(path).convention) == (suite, TAU_B if "CF" in suite else TAU_C)


def test_shares_of_votes_in_a_file_of_experts_are_refused_or_crowd(tmp_path: Path) -> None:
    written(tmp_path, "Flickr8k.token.txt", "b.jpg#3\tA dog .\n")
    with pytest.raises(BadCorpus, match="holds 0\\.3333, 1, 2; ratings"):
        read_suite(written(tmp_path, "ExpertAnnotations.txt", "a.jpg\tb.jpg#3\t0.3333\t1\t2\n"))


def labelled(label: object) -> dict[str, object]:
    return {"HC": [{"image": "1.jpg", "captions": ["a cat", "a dog"], "label": label, "references": []}]}


@pytest.mark.parametrize(
    ("label", "preferred"),
    [
        (0, "a cat"),
        ("0", "a cat"),
        (0.0, "a cat"),
        (1, "a dog"),
        ("1", "a dog"),
        (1.0, "a dog"),
        (" 1.0", "a dog"),
        (None, None),
        ("", None),
        (float("nan"), None),
    ],
)
def test_a_label_of_pascal_50s_may_be_a_text_or_empty(tmp_path: Path, label: object, preferred: str | None) -> None:
    suite = read_suite(written(tmp_path, "pascal_50s.json", labelled(label)))
    assert [each.preferred for each in suite.compared] == ([preferred] if preferred else [])
    assert suite.left_out == (preferred is None)


@pytest.mark.parametrize("label", [2, -1, "2", "b", 0.5, True, False, [1]])
def test_another_label_is_refused_with_its_entry_and_value(tmp_path: Path, label: object) -> None:
    held = labelled(0)
    held["HC"] += labelled(label)["HC"]  # type: ignore[operator]
    with pytest.raises(BadCorpus, match=r"pascal_50s\.json, entry 2 of 'HC': label must be 0 .* got "):
        read_suite(written(tmp_path, "pascal_50s.json", held))


def test_a_foil_may_be_told_by_text_and_a_winner_is_one_of_the_two_or_a_tie(tmp_path: Path) -> None:
    notes = [
        {"id": 1, "image_id": 9, "caption": "A dog", "foil": "False"},
        {"id": 1, "image_id": 9, "caption": "A cat", "foil": 1},
    ]
    held = {"images": [{"id": 9, "file_name": "9.jpg"}], "annotations": notes}
    assert read_suite(written(tmp_path, "foil.json", held)).compared == (Compared("9.jpg", "A dog", "A cat"),)
    notes[1]["foil"] = "yes"
    with pytest.raises(BadCorpus, match="entry 2 of 'annotations': foil must be true or false, got 'yes'"):
        read_suite(written(tmp_path, "foil.json", held))
    with pytest.raises(BadCorpus, match="entry 2: winner must be 'A', 'B' or 'equal', got 'source2'"):
        read_suite(written(tmp_path, "arena.json", [BATTLE, {**BATTLE, "winner": "source2"}]))
    none = read_suite(written(tmp_path, "arena.json", [BATTLE, {**BATTLE, "winner": None}]))
    assert (len(none.compared), none.left_out) == (1, 1)


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_tables_of_suites_may_have_other_separators_blanks_capitals_and_a_mark(tmp_path: Path, between: str) -> None:
    def table(name: str, *lines: tuple[str, ...]) -> Suite:
        return read_suite(written(tmp_path, name, "\ufeff" + "\r\n".join(map(between.join, lines)) + "\r\n"))

    capeval = table("c.csv", ("Image", " LANGUAGE", "Caption ", "score"), ("a.jpg", "en", "A dog .", "0.75"))
    assert capeval.rated == (Rated("a.jpg", "A dog .", 0.75, "en", "en"),)
    head = ("input.Image_URL", " Input.text1", "Answer.Q1Answer")
    assert table("8k_correctness.csv", head, ("http://x/a.jpg", "a dog", "5")).rated == (
        Rated("a.jpg", "a dog", 5.0, "8k", dimension="correctness"),
    )
    polaris = table("polaris_test.csv", ("ImgId", "mt ", "refs", "score"), ("a.jpg", "a  dog", "['a hound']", "0.5"))
    assert polaris.rated == (Rated("a.jpg", "a dog", 0.5, references=("a hound",)),)


ROW = 'imgid,mt,refs,score\na.jpg,a dog,"[\'a dog\', ""a dog\'s toy""]",0.625\nb.jpg,a cat,[],\n'


@pytest.mark.parametrize(
    ("name", "suite", "dimension"),
    [
        ("polaris_test.csv", "Polaris", ""),
        ("nebula_test.csv", "Nebula", ""),
        ("en_test_composite_da2.csv", "Composite", ""),
        ("desc_dci_val.csv", "LongCap-Arena", "descriptiveness"),
        ("flu_dci_test.csv", "LongCap-Arena", "fluency"),
    ],
)
def test_captionevalkit_s_tables_are_the_suites_that_their_names_say(
    tmp_path: Path, name: str, suite: str, dimension: str
) -> None:
    """Columns and names of CaptionEvalKit 0.1.3; τ_c by its expected values for Polaris and Nebula."""
    found = read_suite(written(tmp_path, name, ROW))
    assert (found.name, found.convention, found.left_out) == (suite, TAU_C, 1)
    assert found.rated == (Rated("a.jpg", "a dog", 0.625, references=("a dog's toy",), dimension=dimension),)
    line = {"id": "1", "image": "a.jpg", "caption": "a dog", "references": ["a dog's toy"], "score": 0.625}
    assert read_suite(written(tmp_path, f"{name}.jsonl", json.dumps(line))).rated == found.rated


OWN = (
    "Image,Caption,Rater,rating_thoroughness,rating_relevance,note\n"
    "a.jpg,a  dog,r1,4,5,x\na.jpg,a dog,r2,2,,x\nb.jpg,a cat,r1,none,1,x\n,a bus,r1,1,1,x\n"
)


def test_a_suite_of_one_s_own_carries_its_name_raters_and_dimensions(tmp_path: Path) -> None:
    found = read_suite(written(tmp_path, "my benchmark.csv", OWN))
    assert (found.name, found.convention, found.left_out) == ("my benchmark", TAU_C, 4)
    assert found.rated == (
        Rated("a.jpg", "a dog", 4.0, rater="r1", dimension="thoroughness"),
        Rated("a.jpg", "a dog", 5.0, rater="r1", dimension="relevance"),
        Rated("a.jpg", "a dog", 2.0, rater="r2", dimension="thoroughness"),
        Rated("b.jpg", "a cat", 1.0, rater="r1", dimension="relevance"),
    )
    assert {each.id: (each.done, each.count) for each in found.decisions}["unread"] == ("not read: note", 1)
    found = read_suite(written(tmp_path, "pandas.csv", ",image,caption,rating\n0,a.jpg,A dog,4\n"))
    assert "unread" not in {each.id for each in found.decisions}  # the numbers of rows say nothing
    line = {
        "suite": "ours",
        "image": "a.jpg",
        "caption": "Ein Hund",
        "rating": 3,
        "language": "de",
        "references": ["x"],
    }
    lines = read_suite(written(tmp_path, "any.jsonl", json.dumps(line)))
    assert (lines.name, lines.rated) == ("ours", (Rated("a.jpg", "Ein Hund", 3.0, "", "de", ("x",)),))


@pytest.mark.parametrize(
    ("name", "rows", "sentence"),
    [
        ("foil.csv", "image,caption,rating\na.jpg,a dog,1\n", "'foil' is the name of a published suite"),
        ("x.csv", "image,caption,rating,suite\na.jpg,a,1,one\na.jpg,b,1,two\n", "names 2 suites, 'one' and 'two'"),
        ("x.csv", "image,caption,rating\na.jpg,a dog,good\n", "holds no row with image, caption and a rating"),
        ("x.csv", "image,caption,rating,language\na.jpg,a dog,1,?\n", r"x\.csv, line 2: language must be a code"),
    ],
)
def test_a_suite_of_one_s_own_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, name: str, rows: str, sentence: str
) -> None:
    with pytest.raises(BadCorpus, match=sentence):
        read_suite(written(tmp_path, name, rows))


def test_a_table_of_the_kit_whose_name_says_no_suite_or_whose_references_are_no_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match=r"call it e\.g\. polaris_test\.csv"):
        read_suite(written(tmp_path, "test.csv", ROW))
    for cell in ("a dog", "['a dog'", "{'a': 1}", "[1]", "[" * 9999):
        with pytest.raises(BadCorpus, match=r"line 2: references must be a list"):
            read_suite(written(tmp_path, "nebula_test.csv", f'imgid,cand,refs,score\na.jpg,a dog,"{cell}",1\n'))


@pytest.mark.parametrize("cell", ["['a cat', 'a tom']", "['a cat' 'a tom']", '[""a cat"", ""a tom""]', "a cat|a tom"])
@pytest.mark.parametrize("name", ["own.csv", "polaris_test.csv"])
def test_references_may_be_a_list_as_python_numpy_or_json_write_it(tmp_path: Path, name: str, cell: str) -> None:
    if name == "polaris_test.csv" and "|" in cell:
        cell = "['a cat', 'a tom']"
    head = "image,caption,rating,references" if name == "own.csv" else "imgid,cand,score,refs"
    found = read_suite(written(tmp_path, name, f'{head}\na.jpg,a dog,1,"{cell}"\n'))
    assert found.rated == (Rated("a.jpg", "a dog", 1.0, references=("a cat", "a tom")),)


def test_ratings_with_decimal_commas_are_not_lost_beside_whole_ones(tmp_path: Path) -> None:
    rows = "image;caption;rating\na.jpg;a dog;4,5\nb.jpg;a cat;3\nc.jpg;a bus;0,125\nd.jpg;a tree;1_0\n"
    found = read_suite(written(tmp_path, "own.csv", rows))
    assert ([each.rating for each in found.rated], found.left_out) == ([4.5, 3.0, 0.125], 1)


@pytest.mark.parametrize("between", [";", "\t", "|"])
def test_the_mean_of_three_ratings_with_a_decimal_comma_is_no_number_of_thousands(tmp_path: Path, between: str) -> None:
    """Three decimals: what stands between the cells says that the comma is one before decimals."""
    rows = [
        ["image", "caption", "rating"],
        ["a.jpg", "a dog", "2,667"],
        ["b.jpg", "1,234", "3"],
        ["c.jpg", "a", "-0,5"],
    ]
    found = read_suite(written(tmp_path, "own.csv", "\n".join(map(between.join, rows))))
    assert ([each.rating for each in found.rated], found.left_out) == ([2.667, 3.0, -0.5], 0)
    assert found.rated[1].caption == "1,234"
    rows = [
        ["image", "caption", "language", "score"],
        ["a.jpg", "ein Hund", "de", "0,667"],
        ["b.jpg", "x", "de", "1,000"],
    ]
    found = read_suite(written(tmp_path, "de.csv", "\n".join(map(between.join, rows))))
    assert [each.rating for each in found.rated] == [0.667, 1.0]
    rows = 'image,caption,rating,rating_style\na.jpg,a dog,"2,667","1,500"\nb.jpg,a cat,3,3\nc.jpg,a bus,"3,0",2\n'
    found = read_suite(written(tmp_path, "own.csv", rows))  # pandas' decimal="," alone; the second column tells nothing
    held = {name: [each.rating for each in found.rated if each.dimension == name] for name in ("", "style")}
    assert (held, found.left_out) == ({"": [2.667, 3.0, 3.0], "style": [3.0, 2.0]}, 1)
    rows = "image\tcaption\trating\na.jpg\ta dog\t1,250\nb.jpg\ta cat\t980\n"  # thousands, it seems
    found = read_suite(written(tmp_path, "own.tsv", rows))
    assert ([each.rating for each in found.rated], found.left_out) == ([980.0], 1)


def test_cells_that_pandas_writes_for_nothing_are_none(tmp_path: Path) -> None:
    own = "image,caption,rating,rater\na.jpg,nan,4,r\nnan,a dog,4,r\na.jpg,a dog,3,nan\n"
    found = read_suite(written(tmp_path, "own.csv", own))
    assert (found.rated, found.left_out) == ((Rated("a.jpg", "a dog", 3.0),), 2)
    kit = "imgid,mt,refs,score\na.jpg,a dog,nan,0.5\na.jpg,nan,['x'],0.5\n"
    found = read_suite(written(tmp_path, "polaris_test.csv", kit))
    assert (found.rated, found.left_out) == ((Rated("a.jpg", "a dog", 0.5),), 1)


def test_thumb_s_lines_are_rated_by_the_sum_that_the_file_states(tmp_path: Path) -> None:
    """The layout of THumB 1.0's mscoco file, here with made captions."""
    line = {
        "SYS": "Up-Down",
        "seg_id": "974",
        "set_id": 5,
        "hyp": "A dog.",
        "image": "COCO_val2014_000000000974.jpg",
        "P": 4.0,
        "R": 3.0,
        "Fl": -0.3,
        "Inc": -0.0,
        "Con": -0.0,
        "human_score": 3.2,
    }
    lines = [line, {**line, "SYS": "Human", "human_score": None}]
    suite = read_suite(written(tmp_path, "mscoco_THumB-1.0.jsonl", "\n".join(map(json.dumps, lines))))
    assert (suite.name, suite.convention, suite.left_out) == ("THumB", TAU_C, 1)
    assert suite.rated == (Rated("COCO_val2014_000000000974.jpg", "A dog.", 3.2, "Up-Down"),)


TEXT = (
    "image file : a.jpg\nlabel : 0\n\ncaption : A  dog .\nmodel score : 0.9\nour score : 0.8\n\n"
    "caption : our score : 1\nmodel score : 0.1\n\ntrue count : 1\ntie count : 0image file : b.jpg\n"
    "caption : A dog .\nmodel score : 0.5\nour score : 0.4\ncaption : A dog .\nour score : 0.3\n"
)


def test_fleur_s_text_gives_both_of_its_scores_by_image_and_caption(tmp_path: Path) -> None:
    path = written(tmp_path, "fleur.txt", TEXT)
    ours, model = read_text_scores(path), read_text_scores(path, column="model")
    assert (ours.scores, ours.several) == ({("a.jpg", "A dog ."): 0.8, ("b.jpg", "A dog ."): 0.4}, 1)
    assert model.scores == {("a.jpg", "A dog ."): 0.9, ("a.jpg", "our score : 1"): 0.1, ("b.jpg", "A dog ."): 0.5}
    for name, content, column, why in (
        ("x.txt", "nothing", "", "holds no our score"),
        ("x.txt", TEXT, "mine", "our and model"),
        ("x.txt", TEXT.replace("0.8", "high"), "", "line 6: the score must be a number"),
        ("x.txt", TEXT.replace("0.8", "nan"), "", "line 6: the score must be a number"),
    ):
        with pytest.raises(InvalidInput, match=why):
            read_text_scores(written(tmp_path, name, content), column=column)
    (tmp_path / "x.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="not UTF-8"):
        read_text_scores(tmp_path / "x.txt")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_text_scores(tmp_path / "none.txt")


@pytest.mark.parametrize("place", ["caption", "references"])
def test_a_caption_without_end_is_refused_by_its_picture(tmp_path: Path, place: str) -> None:
    entry = {"image": "1.png", "caption": "a cat", "human": 1, "references": ["a cat sits"]}
    long = "cat " * 2_000_000
    entry[place] = long if place == "caption" else [long]
    path = written(tmp_path, "composite.json", {"flickr8k": [entry]})
    with pytest.raises(
        BadCorpus, match=r"a caption of 1\.png has [78],\d\d\d,\d\d\d characters, at most 100,000 are read"
    ):
        read_suite(path)
