"""What a page shows, a report has or names as not given: page by page, part by part, question by question."""

import re

from core.analysis.questions import catalogue
from core.analysis.reading import read_table
from core.features import feature
from core.report.build import build
from core.report.document import Report
from core.store.store import Store
from pages.views.contrast_tests.contrast_state import VIEWS as TESTS
from pages.views.human_validation.coordinator import PARTS as STUDY_PARTS
from pages.views.results_view import SHOWN
from tests.analysis.made_runs import audited, write_run


def parts(page: str) -> set[str]:
    return {part for found, part in feature.parts() if found == page}


def test_every_page_and_every_part_of_it_has_a_place_in_the_report_or_a_reason() -> None:
    views = {view.name for view in feature.views()} - {"words", "stories"}  # no number of their own
    assert {view for view, _ in feature.parts()} == views
    assert parts("results") == set(SHOWN)
    assert parts("flip_risk") == {"gap"}
    assert parts("contrast_tests") == {*TESTS, "failures"}
    assert parts("human_validation") == set(STUDY_PARTS)
    assert len(feature.parts()) == sum(len(view.parts) for view in feature.views())
    for each in feature.parts().values():
        assert each.held or each.reason, each
        assert bool(each.name) == bool(each.reason), each


def test_what_a_part_is_held_by_is_in_the_report_or_named_as_missing(store: Store, demo_report: Report) -> None:
    report = demo_report
    known = {each.id for each in (*report.tables, *report.figures, *report.details, *report.missing)} | {"about"}
    sections = {f"section:{each.section}" for each in catalogue(read_table(store))}
    for each in feature.parts().values():
        named = each.name in {lack.id for lack in report.missing}
        assert set(each.held) <= known | sections or named, each
        assert not each.name or named, each


def answered(store: Store, report: Report) -> None:
    held = {each.id for each in (*report.tables, *report.figures, *report.details)}
    lacks = {each.id: each.reason for each in report.missing}
    table = read_table(store)
    for question in catalogue(table):
        ids = {question.id, *(each.id for each in question.figures), *filter(None, [question.part_of])}
        assert ids & (held | set(lacks)), question.id
        if reason := question.needs(table):
            assert reason in {lacks.get(id_) for id_ in ids} or question.part_of, question.id


def test_every_question_of_every_page_is_answered_or_named(store: Store, demo_report: Report) -> None:
    answered(store, demo_report)


def test_so_it_is_for_a_run_that_holds_little(tmp_path) -> None:
    write_run(tmp_path / "r", audited("vflip"), corpus={"name": "c"})
    with Store.open(tmp_path) as store:
        report = build(store)
        answered(store, report)
    assert report.opening is not None
    assert re.search(r"T4|T7", " ".join(each.id for each in report.missing))
