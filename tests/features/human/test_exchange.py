import io
import json
from pathlib import Path

import pandas as pd
import pytest

from core.errors import InvalidInput
from core.features.human.exchange import FORMATS, export_votes, import_votes
from core.features.human.studies import Study
from core.features.human.votes import vote_table
from tests.features.human.small_study import finish, make, vote

HEAD = "annotator,id,left,A,B,preference\n"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = make(tmp_path / "here")
    ada, bo = made.invite(["Ada Lovelace", "Bo"])
    finish(made, ada)
    vote(made, bo, "0001", A=0, preference="B")
    made.skip(bo, "0002", "it upsets me", seen=0)
    made.comment(bo, "0001", '=1+1 \N{WAVING HAND SIGN}, "quoted"\nline')
    return made


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_read_into_a_copy_of_the_study_gives_the_same_votes(study: Study, tmp_path: Path, form: str) -> None:
    copy = make(tmp_path / "there")
    assert import_votes(copy, export_votes(study, form), name=f"votes.{form}").count == 8
    columns = ["id", "left", "original", "variant", "preferred", "seconds", "skipped"]
    here, there = (vote_table(each, skipped=True).sort_values(["id", "annotator"]) for each in (study, copy))
    pd.testing.assert_frame_equal(here[columns].reset_index(drop=True), there[columns].reset_index(drop=True))
    assert set(there["annotator"]) == {"x-a01", "x-a02"}


@pytest.mark.parametrize("form", FORMATS)
def test_reading_the_same_file_twice_or_ones_own_export_changes_nothing(
    study: Study, tmp_path: Path, form: str
) -> None:
    data = export_votes(study, form)
    before = study.log_path.read_bytes()
    assert import_votes(study, data, name=f"v.{form}").count == 0
    assert len(vote_table(study)) == 7
    assert b'"row":"answer"' not in study.log_path.read_bytes()[len(before) :]
    copy = make(tmp_path / "there")
    import_votes(copy, data, name=f"v.{form}")
    assert import_votes(copy, data, name=f"v.{form}").count == 0


def test_no_name_token_or_secret_leaves_with_the_votes(study: Study) -> None:
    told = b"".join(export_votes(study, form) for form in ("csv", "json"))
    for annotator in ("a01", "a02"):
        token = study.token(annotator)
        assert token is not None
        assert token.encode() not in told
    assert b"Lovelace" not in told


def test_a_comment_is_no_formula_in_a_spreadsheet(study: Study) -> None:
    table = pd.read_csv(io.BytesIO(export_votes(study, "csv")))
    assert [each for each in table["comment"].dropna() if each.startswith("=")] == []
    assert [each for each in table["comment"].dropna() if each.startswith("'=1+1")] != []


def test_a_comment_that_looks_like_a_formula_comes_back_as_it_was_written(study: Study, tmp_path: Path) -> None:
    copy = make(tmp_path / "there")
    import_votes(copy, export_votes(study, "csv"), name="votes.csv")
    said = '=1+1 \N{WAVING HAND SIGN}, "quoted"\nline'
    assert said in {each for each in vote_table(copy)["comment"] if each}


def test_votes_made_elsewhere_by_hand_are_taken_in_and_corrected(study: Study) -> None:
    data = (HEAD + "Eve,1,variant,2,0,tie\nEve,0002,original,1,1,A\n").encode()
    assert import_votes(study, data, name="eve.csv").count == 2
    own = vote_table(study).set_index(["annotator", "id"]).loc["x-Eve"]
    assert own.loc["0001", ["original", "variant", "preferred"]].tolist() == [0.0, 2.0, "tie"]
    assert import_votes(study, data.replace(b"2,0,tie", b"2,1,tie"), name="eve.csv").count == 1
    assert vote_table(study).set_index(["annotator", "id"]).loc[("x-Eve", "0001"), "corrections"] == 1


BAD = {
    "no-column": (b"a,b\n1,2\n", "v.csv", "no column 'annotator'"),
    "empty": (b"", "v.csv", "has 0 rows"),
    "no-rows": (HEAD.encode(), "v.csv", "has 0 rows"),
    "binary": (b"\x00\xff\xfe" * 50, "v.csv", "is not UTF-8 text"),
    "no-json": (b"{", "v.json", "cannot be read"),
    "other-json": (b'{"x": 1}', "v.json", "cannot be read"),
    "deep-json": (b"[" * 100_000, "v.json", "cannot be read"),
    "no-parquet": (b"PAR1", "v.parquet", "cannot be read"),
    "ending": (b"x", "v.pkl", "read from csv, parquet, json"),
    "item": ((HEAD + "Eve,9999,original,1,1,tie\n").encode(), "v.csv", "row 1 .* no item '9999'"),
    "answer": ((HEAD + "Eve,1,original,1,1,tie\nEve,2,original,7,1,tie\n").encode(), "v.csv", "row 2 .* takes 0, 1, 2"),
    "left": ((HEAD + "Eve,1,up,1,1,tie\n").encode(), "v.csv", "left is what stood left"),
    "missing": ((HEAD + "Eve,1,original,1,,tie\n").encode(), "v.csv", "'B' has no answer"),
    "twice": ((HEAD + "Eve,1,original,1,1,tie\nEve,1,original,2,1,tie\n").encode(), "v.csv", "rows 1 and 2"),
    "nameless": ((HEAD + ",1,original,1,1,tie\n").encode(), "v.csv", "annotator's name"),
    "study": (b"study,annotator,id,left,A,B,preference\nx,E,1,original,1,1,tie\n", "v.csv", "belongs to study 'x'"),
    "cut": ((HEAD + "Eve,1,original,1,1,tie\nEve,2,orig").encode(), "v.csv", "line 3: another number of cells"),
    "double": (b"annotator,id,left,A,A\nEve,1,original,1,2\n", "v.csv", "column 'A' stands twice"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_file_that_cannot_be_used_is_one_sentence_and_changes_nothing(study: Study, case: str) -> None:
    data, name, said = BAD[case]
    before = study.log_path.read_bytes()
    with pytest.raises(InvalidInput, match=said):
        import_votes(study, data, name=name)
    assert study.log_path.read_bytes() == before


@pytest.mark.parametrize("between", [";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_votes_come_as_spreadsheets_write_them(study: Study, between: str, encoding: str) -> None:
    told = "sep=;\n" * (between == ";") + (HEAD + "Eve,1,original,1,1,tie\n").replace(",", between)
    assert import_votes(study, told.replace("\n", "\r\n").encode(encoding), name="v.csv").count == 1
    row = vote_table(study).set_index("annotator").loc["x-Eve"]
    assert (row["original"], row["variant"], row["preferred"]) == (1, 1, "tie")


@pytest.mark.parametrize("between", [";", "\t"])
def test_a_column_of_numbers_with_gaps_and_a_decimal_comma_say_the_same(study: Study, between: str) -> None:
    """pandas writes whole numbers of such a column with a point; the second row repeats the first vote."""
    head = HEAD.strip() + ",seconds\n"
    told = (head + "7,1,original,1,1,tie,12@345\n7.0,1.0,original,1.0,1,tie,0@5\n").replace(",", between)
    taken = import_votes(study, told.replace("@", ",").encode("utf-8-sig"), name="v.csv")
    assert (taken.count, len(taken.told)) == (1, 1)
    row = vote_table(study).set_index(["annotator", "id"]).loc[("x-7", "0001")]
    assert (row["original"], row["variant"], row["preferred"], row["seconds"]) == (1, 1, "tie", 12.345)
    here = f"{HEAD}x-7.0,1,original,1,1,tie\n7.0,1,original,1,1,tie\n"  # who goes by that name here already
    assert import_votes(study, here.encode(), name="v.csv").count == 1


@pytest.mark.parametrize("no", ["False", "no", "0", "0.0", "NA", "nan", "None", "", "N", "<NA>"])
def test_a_cell_that_says_no_or_nothing_is_no_skip(study: Study, no: str) -> None:
    head = HEAD.strip() + ",skipped,withdrawn\n"
    assert import_votes(study, f"{head}Eve,1,original,1,1,tie,{no},{no}\n".encode(), name="v.csv").count == 1
    row = vote_table(study).set_index("annotator").loc["x-Eve"]
    assert (row["original"], row["variant"], row["preferred"]) == (1, 1, "tie")


@pytest.mark.parametrize("yes", [True, "Yes", 1, 1.0, "TRUE", "not clear to me"])
def test_a_cell_that_says_yes_or_why_is_a_skip(study: Study, yes: object) -> None:
    rows = [{"annotator": "Eve", "id": 1, "left": "original", "skipped": yes}]
    assert import_votes(study, json.dumps(rows).encode(), name="v.json").count == 1
    told = vote_table(study, skipped=True).set_index("annotator").loc["x-Eve", "skipped"]
    assert told == (yes if yes == "not clear to me" else "skipped elsewhere")


@pytest.mark.parametrize("column", ["skipped", "withdrawn"])
def test_a_word_that_is_neither_is_refused_with_row_and_value(study: Study, column: str) -> None:
    data = f"{HEAD.strip()},{column}\nEve,1,original,1,1,tie,no\nEve,2,original,1,1,tie,perhaps\n".encode()
    before = study.log_path.read_bytes()
    with pytest.raises(InvalidInput, match=r"v\.csv: row 2 .*'perhaps'"):
        import_votes(study, data, name="v.csv")
    assert study.log_path.read_bytes() == before


@pytest.mark.parametrize("form", FORMATS)
def test_who_withdrew_counts_nowhere(study: Study, tmp_path: Path, form: str) -> None:
    copy = make(tmp_path / "there")
    import_votes(copy, export_votes(study, form), name=f"votes.{form}")
    assert set(vote_table(copy)["annotator"]) == {"x-a01", "x-a02"}
    study.withdraw("a02")
    everything = export_votes(study, form, withdrawn=True)
    fresh = make(tmp_path / "fresh")
    for each in (copy, fresh):
        told = import_votes(each, everything, name=f"votes.{form}").told
        assert told == ("2 votes of annotators who withdrew, left out",)
        assert set(vote_table(each)["annotator"]) == {"x-a01"}
    # a file of theirs that does not say so brings nothing back where the withdrawal is known
    assert import_votes(copy, f"{HEAD}x-a02,3,original,1,1,tie\n".encode(), name="v.csv").count == 0


def test_a_file_may_not_change_what_an_invited_annotator_said(study: Study) -> None:
    told = json.loads(export_votes(study, "json"))
    told["votes"][0]["A"] = 0
    with pytest.raises(InvalidInput, match="was invited here"):
        import_votes(study, json.dumps(told).encode(), name="v.json")
