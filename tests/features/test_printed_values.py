"""Printed numbers: some typed from the papers by hand, and how a kept result is held against them."""

from core.evaluators.references import BY_WORDS
from core.evaluators.registry import catalogue
from core.features.suites.printed_values import AGREES, DIFFERS, NOT_RUN, Reproduced, printed_values, reproduced
from core.features.suites.suite_measures import MEAN
from core.features.suites.suite_result import Reached, Row, SuiteResult
from core.settings import ROOT

TYPED = (
    ("C", "Table 1", "CLIP-S", "", "flickr8k-expert", "tau_c", "", "51.2"),
    ("C", "Table 1", "RefPAC-S++", "", "composite", "tau_c", "", "59.1"),
    ("C", "Table 1", "UMIC", "", "flickr8k-expert", "tau_c", "", "46.8"),
    ("C", "Table 2", "EMScore", "1 reference", "vatex-eval", "tau_b", "", "28.6"),
    ("C", "Table 2", "PAC-S++", "no reference", "vatex-eval", "rho", "", "36.4"),
    ("C", "Table 2", "RefPAC-S++", "9 references", "vatex-eval", "rho", "", "50.8"),
    ("C", "Table 3", "RefPAC-S++", "", "pascal-50s", "accuracy", "HC", "67.2"),
    ("C", "Table 3", "MID", "", "pascal-50s", "accuracy", "mean", "85.2"),
    ("C", "Table 4", "RefCLIP-S", "4 references", "foil", "accuracy", "", "92.6"),
    ("C", "Table 5", "FLEUR", "LLaVA v1.5-13B", "composite", "tau_c", "", "63.5"),
    ("C", "Table 5", "RefPAC-S++", "CLIP ViT-L/14", "pascal-50s", "accuracy", "mean", "84.7"),
    ("C", "Table 7", "RefPAC-S", "first row", "foil", "accuracy", "", "93.7"),
    ("C", "Table 8", "CLIP-S", "SigLIP ViT-L/14", "flickr8k-cf", "tau_b", "", "-1.1"),
    ("C", "Table 8", "RefPAC-S++", "CLIP ViT-L/14", "pascal-50s", "accuracy", "mean", "85.4"),
    ("B", "Table 4", "PR-MCS", "en", "composite", "tau_c", "", "0.493"),
    ("B", "Table 6", "MCS", "fr", "flickr8k-expert", "tau_c", "", "0.530"),
    ("A", "Table 17", "PAC-S", "after calibration", "composite", "preference", "", "64.0"),
)


def told() -> set[tuple[str, ...]]:
    return {
        (each.paper, each.table, each.metric, each.setting, each.suite, each.measure, each.group, each.printed)
        for each in printed_values()
    }


def test_numbers_typed_from_the_papers_are_there_once_and_fleurs_stand_first() -> None:
    values = printed_values()
    assert set(TYPED) <= told()
    assert len(told()) == len(values)
    assert [(each.metric, each.suite, each.printed) for each in values[:2]] == [
        ("FLEUR", "flickr8k-expert", "53.0"),
        ("FLEUR", "pascal-50s", "83.2"),
    ]
    assert all(each.rule and each.command for each in values)


def test_what_computes_a_number_is_known_here_and_of_its_setting() -> None:
    values = printed_values()
    known = {*catalogue().entries, *BY_WORDS, ""}
    assert {each.evaluator for each in values} <= known
    of = {(each.metric, each.setting, each.suite): each.evaluator for each in values}
    assert of["PAC-S", "CLIP ViT-L/14", "foil"] == "pac-s-l14"
    assert of["CLIP-S", "SigLIP ViT-L/14", "foil"] == ""
    assert of["EMScore", "1 reference", "vatex-eval"] == "refemscore"
    assert of["PAC-S", "after calibration", "composite"] == ""
    assert of["PAC-S", "before calibration", "composite"] == "pac-s"


def test_a_kept_result_agrees_to_the_last_printed_digit_or_differs() -> None:
    def kept(suite: str, evaluator: str, measure: str, value: float, group: str = "") -> SuiteResult:
        row = Row(measure=measure, group=group, value=value, low=None, high=None, n=10, ties=0, note="")
        return SuiteResult(
            suite=suite,
            convention="accuracy" if "accuracy" in measure else "tau_c",
            sources=({"name": "f", "sha256": "0" * 64},),  # type: ignore[arg-type]
            judgements=10,
            images=10,
            decisions=(),
            reached=(Reached(evaluator=evaluator, made_with="file", rows=(row,)),),
        )

    found = reproduced(
        [
            kept("Flickr8k-Expert", "fleur@imported", "tau_c", 53.04),
            kept("Pascal-50S", "fleur@imported", "accuracy_strict", 83.36, MEAN),
        ]
    )
    assert [each.found for each in found[:3]] == [AGREES, DIFFERS, NOT_RUN]
    assert found[0].weights == "file"
    assert {each.found for each in found[2:]} == {NOT_RUN}


def test_the_guide_to_suites_lists_the_numbers_of_fleur_as_the_command_finds_them() -> None:
    guide = (ROOT / "docs" / "suites.md").read_text("utf-8")
    values = printed_values()
    assert f"the {len(values)} numbers that the papers print" in guide
    lines = guide.split("Of FLEUR (paper C, Table 5)")[1].split("| --- |")[-1].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines if line.count("|") > 4]
    own = {value.suite: value for value in values if value.metric == "FLEUR" and value.table == "Table 5"}
    assert {row[0].casefold() for row in rows} == set(own)
    for suite, measure, printed, here, found in rows:
        value = own[suite.casefold()]
        assert printed == value.printed
        assert {"tau_b": "τ_b", "tau_c": "τ_c", "accuracy": "accuracy"}[value.measure] in measure
        assert found.partition(":")[0] == Reproduced(value, float(here) if here else None, "").found
