"""Which rows count: one subject, one language, one run a corpus, and a sentence for everything left out."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from core.analysis.reading import read_table
from core.analysis.scope import REFERENCE, Narrowed, Scope, holdings, narrow
from core.errors import InvalidInput
from core.store.store import Store
from tests.analysis.made_runs import raw, scores_of, write_run

Runs = Callable[..., Store]


@pytest.fixture
def runs(tmp_path: Path) -> Iterable[Runs]:
    """Open runs written by hand: run id -> rows."""
    opened: list[Store] = []

    def make(**rows: list[dict[str, Any]]) -> Store:
        for run, own in rows.items():
            write_run(tmp_path / "runs" / run, own)
        opened.append(Store.open(tmp_path / "runs"))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


def flips(n: int, *, probes: tuple[str, ...] = ("identity", "vflip"), **told: Any) -> list[dict[str, Any]]:
    return scores_of(probes, n, lambda probe, place: 0.5, **told)


def test_the_shipped_run_is_one_corpus_and_nothing_is_left_out(store: Store) -> None:
    found = narrow(store)
    assert (found.runs, found.corpus, found.run, found.run_ids) == ((("demo", "demo"),), "demo", "demo", ("demo",))
    assert (found.subject, found.language, found.rank, found.left_out) == ("template", "en", 0, ())
    assert found.evaluators == tuple(sorted(raw()["evaluator"].unique()))


def test_holdings_count_every_score_once(store: Store) -> None:
    found, rows = holdings(store), raw()
    assert found["n"].sum() == len(rows)
    shifts = rows[rows["baseline"].notna() & (rows["axis"] != "null")]
    assert found["n_shifts"].sum() == len(shifts)
    assert set(found["n_items"]) == {rows["item"].nunique()}


def test_an_empty_store_says_how_to_fill_it(tmp_path: Path) -> None:
    with Store.open(tmp_path) as empty, pytest.raises(InvalidInput, match=r"python -m core audit --corpus demo"):
        narrow(empty)


def test_the_subject_with_the_most_shifts_counts_and_the_other_is_told_with_its_number(runs: Runs) -> None:
    store = runs(r=flips(2) + flips(3, subject="human"))
    found = narrow(store)
    assert found.subject == "human"
    assert found.left_out == ("Caption human: left out 4 scores of caption template; an item counts once.",)


def test_null_edits_and_unedited_pairs_do_not_make_a_subject_larger(runs: Runs) -> None:
    many = flips(9, probes=("identity", "null:shift1"), subject="human")
    store = runs(r=flips(2) + many)
    assert narrow(store).subject == "template"


def test_of_equal_subjects_the_template_counts(runs: Runs) -> None:
    assert narrow(runs(r=flips(3, subject="human") + flips(3))).subject == "template"


def test_a_run_opens_on_the_caption_that_it_was_asked_to_hold_not_on_what_its_word_edits_bring(tmp_path: Path) -> None:
    words = flips(9, probes=("base", "gender:plain", "gender:boy"))
    write_run(tmp_path / "mine", flips(3, subject="human") + words, subjects=["human"])
    with Store.open(tmp_path) as store:
        found = narrow(store, Scope(runs=("mine",)))
        assert found.subject == "human"
        assert "27 scores of caption template" in found.left_out[0]


@pytest.mark.parametrize("asked", [["human"], ["template", "human"], None, 7, [{}]])
def test_what_a_run_was_asked_to_hold_and_does_not_is_not_opened_on(tmp_path: Path, asked: object) -> None:
    write_run(tmp_path / "mine", flips(3) + flips(9, probes=("identity",), subject="human"), subjects=asked)
    with Store.open(tmp_path) as store:
        assert narrow(store).subject == "template"


def test_a_subject_that_no_one_ranked_comes_after_those_that_are_known(runs: Runs) -> None:
    store = runs(r=flips(3, subject="a new one") + flips(3, subject="human"))
    assert narrow(store).subject == "human"


def test_the_subject_that_is_asked_for_counts_however_small_it_is(runs: Runs) -> None:
    store = runs(r=flips(5) + flips(1, subject="human"))
    found = narrow(store, Scope(subject="human"))
    assert found.subject == "human"
    assert found.left_out == ("Caption human: left out 10 scores of caption template; an item counts once.",)


def test_the_language_with_the_most_shifts_counts_within_the_subject(runs: Runs) -> None:
    rows = flips(2) + flips(3, language="de") + flips(9, language="fr", subject="human")
    found = narrow(runs(r=rows), Scope(subject="template"))
    assert found.language == "de"
    assert found.left_out[1] == "Language de: left out 4 scores of language en; an item counts once."


def test_of_equal_languages_english_counts_and_of_others_the_first(runs: Runs) -> None:
    assert narrow(runs(r=flips(2, language="de") + flips(2))).language == "en"
    two = Scope(runs=("later",))
    assert narrow(runs(later=flips(2, language="fr") + flips(2, language="de")), two).language == "de"


def test_the_language_that_is_asked_for_counts(runs: Runs) -> None:
    found = narrow(runs(r=flips(5) + flips(1, language="de")), Scope(language="de"))
    assert found.language == "de"
    assert "left out 10 scores of language en" in found.left_out[0]


def test_a_language_is_told_as_it_is_written(runs: Runs) -> None:
    found = narrow(runs(r=flips(3, language="zh-Hant") + flips(1)))
    assert found.left_out == ("Language zh-Hant: left out 2 scores of language en; an item counts once.",)


def test_the_first_caption_of_an_item_counts_and_further_ones_are_told(runs: Runs) -> None:
    rows = flips(2, subject="human") + flips(2, subject="human", rank=1) + flips(1, subject="human", rank=2)
    found = narrow(runs(r=rows))
    assert found.rank == 0
    assert found.left_out == ("First caption of each item; 6 scores of further captions are left out.",)


def test_where_no_first_caption_was_scored_the_first_that_was_counts(runs: Runs) -> None:
    found = narrow(runs(r=flips(2, rank=3) + flips(2, rank=1)))
    assert found.rank == 1
    assert "4 scores of further captions" in found.left_out[0]


def test_one_score_is_not_told_in_the_plural(runs: Runs) -> None:
    store = runs(r=flips(2) + flips(1, probes=("identity",), subject="human"))
    assert "left out 1 score of caption human;" in narrow(store).left_out[0]


def test_thousands_are_told_with_a_space(runs: Runs) -> None:
    store = runs(r=flips(700) + flips(501, probes=("identity", "null:shift1"), subject="human"))
    assert "1,002 scores of caption human" in narrow(store).left_out[0]


def test_of_two_runs_of_a_corpus_the_largest_counts_and_the_others_are_told(runs: Runs) -> None:
    store = runs(small=flips(2), large=flips(4), middle=flips(3))
    found = narrow(store)
    assert found.runs == (("c", "large"),)
    assert found.left_out == (
        "Corpus c: run large, the largest of 3; left out middle (6 scores), small (4 scores). An item counts once.",
    )


def test_of_equal_runs_the_last_by_name_counts(runs: Runs) -> None:
    assert narrow(runs(a=flips(2), b=flips(2))).run == "b"


def test_the_size_of_a_run_is_that_of_the_subject_and_language_in_view(runs: Runs) -> None:
    store = runs(much=flips(2) + flips(9, subject="human"), some=flips(3))
    assert narrow(store, Scope(subject="template")).run == "some"
    assert narrow(store).run == "much"


def test_the_run_that_is_asked_for_counts_and_nothing_is_left_out_of_it(runs: Runs) -> None:
    found = narrow(runs(small=flips(2), large=flips(4)), Scope(runs=("small",)))
    assert (found.run, found.left_out) == ("small", ())


def test_of_several_runs_that_are_asked_for_one_a_corpus_counts(runs: Runs) -> None:
    store = runs(one=flips(2), two=flips(3), three=flips(4), other=flips(1, corpus="d"))
    found = narrow(store, Scope(runs=("one", "two", "other")))
    assert found.runs == (("c", "two"), ("d", "other"))
    assert found.left_out[0].startswith("Corpus c: run two, the largest of 2; left out one")


def test_the_corpus_in_view_is_the_papers_where_it_is_there(runs: Runs) -> None:
    store = runs(mine=flips(9), theirs=flips(2, corpus=REFERENCE))
    assert narrow(store).corpus == REFERENCE == "coco"


def test_otherwise_the_corpus_of_most_items_is_in_view_and_of_equal_ones_the_first(runs: Runs) -> None:
    probes = ("identity", "vflip", "hflip", "rotate-5", "rotate+5")
    assert narrow(runs(a=flips(2, probes=probes), b=flips(3, corpus="d"))).corpus == "d"  # of fewer scores
    equal = Scope(runs=("e", "f"))
    assert narrow(runs(e=flips(2, corpus="z"), f=flips(2, corpus="y")), equal).corpus == "y"


def test_the_corpus_that_is_asked_for_is_in_view_and_the_others_stay(runs: Runs) -> None:
    found = narrow(runs(a=flips(2), b=flips(3, corpus="d")), Scope(corpus="c"))
    assert (found.corpus, found.run) == ("c", "a")
    assert found.run_ids == ("a", "b")
    alone = found.only()
    assert (alone.runs, alone.corpus, alone.run, alone.left_out) == ((("c", "a"),), "c", "a", found.left_out)


def test_evaluators_are_narrowed_last_so_that_they_choose_no_run(runs: Runs) -> None:
    store = runs(large=flips(4), small=flips(2, evaluator="f"))
    with pytest.raises(InvalidInput, match="no evaluator 'f' is open; there are: e"):
        narrow(store, Scope(evaluators=("f",)))
    both = narrow(runs(third=flips(4) + flips(4, evaluator="g")), Scope(evaluators=("g",)))
    assert both.evaluators == ("g",)


def test_a_corpus_that_the_chosen_evaluator_did_not_score_stays_in_the_scope(runs: Runs) -> None:
    store = runs(a=flips(3), b=flips(2, corpus="d") + flips(2, corpus="d", evaluator="f"))
    found = narrow(store, Scope(evaluators=("f",)))
    assert found.runs == (("c", "a"), ("d", "b"))
    assert found.corpus == "d"
    table = read_table(store, found)
    assert (table.evaluators, table.corpora) == (("f",), ("d",))


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        (Scope(runs=("nobody",)), "no run 'nobody' is open; there are: one, two"),
        (Scope(subject="video"), "no subject 'video' is open; there are: template"),
        (Scope(language="xx"), "no language 'xx' is open; there are: en"),
        (Scope(evaluators=("x",)), "no evaluator 'x' is open; there are: e"),
        (Scope(corpus="nowhere"), "no run in this scope is of corpus 'nowhere'; there are: c, d"),
        (Scope(runs=("one",), corpus="d"), "no run in this scope is of corpus 'd'; there are: c"),
        (Scope(subject="x') or 1=1 --"), "no subject"),
    ],
)
def test_unknown_names_are_refused_with_what_there_is(runs: Runs, scope: Scope, said: str) -> None:
    store = runs(one=flips(2), two=flips(1, corpus="d"))
    with pytest.raises(InvalidInput) as told:
        narrow(store, scope)
    assert said in str(told.value)


def test_everything_at_once_is_said_in_the_order_of_the_choices(runs: Runs) -> None:
    mine: Mapping[str, Any] = {"subject": "human", "language": "de"}
    store = runs(
        one=flips(5, **mine) + flips(5, **mine, rank=1) + flips(1, subject="human") + flips(2),
        two=flips(2, **mine),
        other=flips(6, **mine, corpus="d"),
    )
    found = narrow(store, Scope(corpus="c"))
    assert isinstance(found, Narrowed)
    assert [sentence.split(":")[0].split(";")[0] for sentence in found.left_out] == [
        "Caption human",
        "Language de",
        "First caption of each item",
        "Corpus c",
    ]
    assert found.runs == (("c", "one"), ("d", "other"))


def test_of_the_corpus_in_view_alone_it_is_said_what_was_left_out_of_it(runs: Runs) -> None:
    store = runs(
        a=flips(5) + flips(2, subject="human"), b=flips(3), mine=flips(4, corpus="d") + flips(1, corpus="d", rank=1)
    )
    found = narrow(store, Scope(corpus="d"))
    assert len(found.left_out) == 3
    assert found.only().left_out == ("First caption of each item; 2 scores of further captions are left out.",)
    other = narrow(store, Scope(corpus="c"))
    assert other.only().left_out == (
        "Caption template: left out 4 scores of caption human; an item counts once.",
        "Corpus c: run a, the largest of 2; left out b (6 scores). An item counts once.",
    )


def test_the_captions_of_a_corpus_that_is_asked_for_count_though_others_have_more(runs: Runs) -> None:
    store = runs(a=flips(9), b=flips(2, corpus="d", subject="human") + flips(1, corpus="d"))
    found = narrow(store, Scope(corpus="d"))
    assert (found.corpus, found.subject, found.run) == ("d", "human", "b")
    assert found.runs == (("d", "b"),)
    assert found.left_out == ("Caption human: left out 20 scores of caption template; an item counts once.",)
    assert found.only().left_out == ("Caption human: left out 2 scores of caption template; an item counts once.",)
