import json
import re
from pathlib import Path

import pytest

from core.commands._shared import Code
from core.errors import InvalidInput, StoreError
from core.features.human.creation import planned_precision
from core.features.human.definition import read_definition
from core.features.human.judged_comparisons import evaluator_rows, judged_comparisons, people_rows, score_tables
from core.features.human.kinds import ACCEPTABILITY
from core.features.human.studies import Study, studies_dir
from core.features.human.votes import vote_table
from core.settings import ROOT, public_url
from core.store.log import encode
from core.store.store import default_store
from tests.commands.calling import Invoke
from tests.features.human.small_study import finish, vote_versions


@pytest.fixture
def data(invoke: Invoke, tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir(exist_ok=True)
    for shipped in ("demo", "results"):
        (folder / shipped).symlink_to(ROOT / "data" / shipped)
    return folder


def test_a_study_from_creation_over_votes_to_agreement(invoke: Invoke, data: Path, tmp_path: Path) -> None:
    made = invoke("study", "create", "pilot", "--run", "demo", "--total", 12, "--attention", 0, "--per-item", 2)
    assert made.exit_code == Code.OK
    assert "12 items" in made.stdout
    for sentence in planned_precision(ACCEPTABILITY, items=12, annotators=2):
        assert sentence in made.stdout
    links = invoke("study", "invite", "pilot", "Ada", "Bo", "--url", "https://example.org/").stdout
    assert links.count("https://example.org/people?token=") == 2
    study = Study(studies_dir() / "pilot")
    for name in ("a01", "a02"):
        assert len(finish(study, name)) == 12
    told = json.loads(invoke("study", "--json").stdout)
    assert (told[0]["votes"], told[0]["wanted"]) == (24, 24)
    found = json.loads(invoke("study", "agreement", "pilot", "--json").stdout)
    percent = next(row for row in found["agreement"] if row["measure"] == "percent agreement")
    assert (percent["estimate"], percent["n_items"]) == (1.0, 12)
    assert found["pairwise"][0]["note"]
    assert {row["annotator"] for row in found["competence"]} == {"a01", "a02"}
    assert found["rates"][0]["rate"] == 100
    assert found["rates"][0]["low"] is None
    assert "2 annotators cannot tell how far people differ" in found["rates"][0]["more"]
    assert "no interval" in found["about"]
    text = " ".join(invoke("study", "agreement", "pilot").stdout.split())
    assert found["rates"][0]["more"] in text
    assert found["about"] in text
    assert invoke("study", "export", "pilot", "-o", tmp_path / "votes.csv").exit_code == Code.OK
    assert invoke("study", "create", "copy", "--total", 12, "--attention", 0).exit_code == Code.OK
    assert "belongs to study 'pilot'" in invoke("study", "import", "copy", tmp_path / "votes.csv").stderr
    assert "0 votes" in invoke("study", "import", "pilot", tmp_path / "votes.csv").stdout


def test_of_one_annotator_no_measure_is_printed_and_each_line_says_why(invoke: Invoke, data: Path) -> None:
    invoke("study", "create", "alone", "--run", "demo", "--total", 12, "--attention", 0, "--per-item", 1)
    invoke("study", "invite", "alone", "Ada")
    assert len(finish(Study(studies_dir() / "alone"), "a01")) == 12
    found = json.loads(invoke("study", "agreement", "alone", "--json").stdout)
    assert {(row["estimate"], row["note"]) for row in found["agreement"]} == {(None, "no item has two votes")}
    assert found["competence"] == found["pairwise"] == found["answers"] == []
    assert all(row["low"] is None and "1 annotator cannot tell" in row["more"] for row in found["rates"])
    text = " ".join(invoke("study", "agreement", "alone").stdout.split())
    assert "1 annotator cannot tell how far people differ" in text
    assert not re.search(r"\bnan\b", text)


def test_a_study_of_right_and_wrong_sides_from_creation_to_people_beside_evaluators(invoke: Invoke, data: Path) -> None:
    made = invoke(
        "study",
        "create",
        "sides",
        "--run",
        "demo-scenes",
        "--kind",
        "preference",
        "--total",
        8,
        "--attention",
        0,
        "--per-item",
        2,
        "--directional",
        "foil",
        "--directional",
        "order",
    )
    assert made.exit_code == Code.OK
    assert "foil, directional" in made.stdout
    study = Study(studies_dir() / "sides")
    for name in study.invite(["", ""]):
        for item in study.definition.items:
            if not item.attention:
                vote_versions(study, name, item.id, original=4, variant=1, preferred="original")
    judged, _ = judged_comparisons(vote_table(study), study.definition.asked, live=study.live)
    rows = people_rows(judged).set_index("family")
    assert (rows.loc["all comparisons", "n"], rows.loc["foil", "prefer"], rows.loc["order", "higher"]) == (8, 100, 100)
    assert (rows.loc["foil", "mean_right"], rows.loc["foil", "mean_wrong"]) == (1.0, 0.0)
    with default_store() as store:
        found = evaluator_rows(judged, score_tables(store, study.definition.run, judged))
    assert set(zip(found["family"], found["n"] + found["n_missing"], strict=True)) == {
        ("foil", 4),
        ("order", 4),
        ("all comparisons", 8),
    }


@pytest.mark.parametrize("command", [("agreement",), ("rates",), ("export", "-o", "out.csv")])
def test_what_of_a_log_does_not_count_is_said_and_told_by_the_exit_code(
    invoke: Invoke, data: Path, command: tuple, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke("study", "create", "pilot", "--total", 12, "--attention", 0, "--per-item", 2).exit_code == Code.OK
    study = Study(studies_dir() / "pilot")
    for name in study.invite(["", ""]):
        finish(study, name)
    whole, name, *rest = study.log_path.read_bytes(), *command
    for log, code, said in (
        (whole[:-9], Code.OK, "the last row was cut in the middle"),
        (whole.replace(b'"answer":2', b'"answer":1', 1), Code.FAILURES, "cut or damaged, and left out"),
        (whole + encode({"row": "merge", "study": "pilot"}), Code.BAD_INPUT, "written by a newer Invariscope"),
        (b"", Code.BAD_INPUT, "is empty or gone"),
    ):
        Path("out.csv").unlink(missing_ok=True)
        study.log_path.write_bytes(log)
        done = invoke("study", name, "pilot", *rest)
        assert said in done.stderr
        assert "log.jsonl" in done.stderr
        # with one row less a stratum has too few votes for rates, which is its own sentence
        assert done.exit_code == code or (name == "rates" and done.exit_code == Code.BAD_INPUT)
        assert Path("out.csv").exists() == (name == "export" and code != Code.BAD_INPUT)
        assert ("pilot" in invoke("study").stdout) == (code != Code.BAD_INPUT)


def test_rates_are_given_where_the_run_lacks_families_of_the_paper(invoke: Invoke, data: Path) -> None:
    assert invoke("study", "create", "lean", "--run", "demo-captions", "--total", 60).exit_code == Code.OK
    study = Study(studies_dir() / "lean")
    for name in study.invite(["", ""]):
        finish(study, name)
    done = invoke("study", "rates", "lean", "--json")
    assert done.exit_code == Code.OK
    assert json.loads(done.stdout)["rates"][0]["votes"] == 100


def test_a_shortfall_is_told(invoke: Invoke, data: Path) -> None:
    told = invoke("study", "create", "big", "--total", 480).stdout
    assert "89 pairs short of 480" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("agreement", "none"), "no study 'none'"),
        (("agreement", "../x"), "study id"),
        (("create", "a b"), "study id"),
        (("create", "x", "--run", "none"), "no complete run 'none'"),
        (("create", "x", "--kind", "other"), "acceptability, rating, preference"),
        (("create", "x", "--total", 10, "--attention", 0.9), "attention"),
        (("create", "x", "--directional", "negation"), "its directional ones: none"),
        (("create", "x", "--run", "demo-scenes", "--directional", "vflip"), "its directional ones: absent-category, "),
        (("export", "none", "-o", "x.csv"), "no study"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(invoke: Invoke, data: Path, arguments: tuple, said: str) -> None:
    done = invoke("study", *arguments)
    assert done.exit_code == Code.BAD_INPUT
    assert said in done.stderr
    assert not (studies_dir() / "x").exists()


def test_without_a_study_the_list_says_what_to_do(invoke: Invoke) -> None:
    assert "study create" in invoke("study").stderr


@pytest.mark.parametrize("bad", ["study.example.org", "ftp://a", "https://a?b=c", "https://me:word@a"])
def test_a_public_address_that_is_none_is_refused(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_PUBLIC_URL", bad)
    with pytest.raises(InvalidInput, match=r"like https://study\.example\.org"):
        public_url()
    monkeypatch.setenv("INVARISCOPE_PUBLIC_URL", "https://study.example.org/a/")
    assert public_url() == "https://study.example.org/a"


def test_rates_over_all_pairs_are_printed_with_what_more_votes_would_buy(invoke: Invoke, data: Path) -> None:
    invoke("study", "create", "flips", "--total", 40, "--attention", 0, "--per-item", 1, "--family", "vertical-flip")
    assert "no item has a vote yet" in invoke("study", "rates", "flips").stderr
    study = Study(studies_dir() / "flips")
    for name in study.invite(["", "", ""]):
        for place, item in enumerate(study.definition.items):
            if not item.attention:
                vote_versions(study, name, item.id, original=2, variant=2 * (place % 4 > 0), preferred="tie")
    told = json.loads(invoke("study", "rates", "flips", "--json").stdout)["rates"]
    assert {round(row["votes"], 6) for row in told} == {75.0, 100.0}
    said = " ".join(invoke("study", "rates", "flips").stdout.split())
    assert "100 more votes, at 3.0 an item as now, would label 33 more items" in said


def test_a_study_that_was_broken_by_hand_is_refused_in_a_sentence(invoke: Invoke, data: Path) -> None:
    """Each value of its file changed for one of another kind, and its items for what are none, or not asked about."""
    invoke("study", "create", "pilot", "--run", "demo", "--total", 3, "--attention", 0, "--per-item", 2)
    path = studies_dir() / "pilot" / "study.json"
    whole = json.loads(path.read_text("utf-8"))
    del whole["sha256"]
    asked = {**whole["items"][0], "stratum": "attention", "probe": "identity"}
    broken = [{**whole, "items": items} for items in ([], [asked], {}, "x", [1], [whole["items"][0]] * 2)]
    for strange in (None, [], "x", 1e400):
        broken += [{**whole, name: strange} for name in whole]
        broken += [{**whole, "items": [{**whole["items"][0], name: strange}]} for name in whole["items"][0]]
    refused = 0
    for each in broken:
        path.write_text(json.dumps(each), "utf-8")
        try:
            read_definition(path.parent)
        except StoreError:
            refused += 1
    assert refused > len(broken) / 2
    for each in (broken[1], {**whole, "run": "x"}, {**whole, "items": 3}):
        path.write_text(json.dumps(each), "utf-8")
        done = invoke("study", "rates", "pilot")
        assert (done.exit_code, done.stderr.count("error: ")) == (Code.BAD_INPUT, 1), each
