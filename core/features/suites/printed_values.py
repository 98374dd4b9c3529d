"""What the papers print of metrics on suites, beside what the kept results reached: agrees, differs, or not run."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass

from core.corpora.suites.image_suites import CORRECTNESS
from core.features.suites.suite_measures import MEAN
from core.features.suites.suite_result import Reached, SuiteResult
from core.settings import assets_dir

AGREES, DIFFERS, NOT_RUN = "agrees", "differs", "not run"

_FILES = {
    "flickr8k-expert": "flickr8k.json",
    "flickr8k-cf": "crowdflower_flickr8k.json",
    "composite": "composite.json",
    "pascal-50s": "pascal_50s.json",
    "foil": "foil.json",
    "vatex-eval": "vatex_eval.jsonl",
}

_FLEUR_SCORES = {
    "flickr8k-expert": "fleur_flickr8k_expert.txt",
    "flickr8k-cf": "fleur_flickr8k_crowdflower.txt",
    "composite": "fleur_composite.txt",
    "pascal-50s": "fleur_pascal.txt",
}
"""Suite -> the authors' scores in ``results/`` of Yebin46/FLEUR; those of Pascal-50S lie there in four files."""

_RULES = {
    "tau_b": "every rating is a row; ties as Kendall's τ_b counts them",
    "tau_c": "every rating is a row; ties as Stuart's τ_c counts them",
    "rho": "Spearman's ρ, mean over the annotators",
    "accuracy": "a tie is an error; labels of the suite's file",
    "preference": "a tie is half right; labels of the suite's file",
}
_FLEUR_PASCAL = "a tie is an error; labels of the authors' results, which differ from the suite's file in 35 pairs"
_MEASURES = {"accuracy": "accuracy_strict", "preference": "accuracy", "rho": "rho_raters"}


@dataclass(frozen=True, slots=True)
class PrintedValue:
    """One number of a paper."""

    paper: str  # by its letter, table: in it
    table: str
    # metric, setting: as printed; the setting is the backbone, the references, the language, or what was trained
    metric: str
    setting: str
    suite: str  # suite, measure, group: what it is of
    measure: str
    group: str
    printed: str  # as it is written there: its last digit says how it was rounded
    evaluator: str  # what computes it here, in that setting; empty where nothing does

    @property
    def percent(self) -> float:
        """The value × 100: paper B prints correlations below 1."""
        return float(self.printed) * (100 if self.paper == "B" else 1)

    @property
    def half(self) -> float:
        """Half of its last digit, × 100 as the value."""
        return 0.5 * 10.0 ** -len(self.printed.partition(".")[2]) * (100 if self.paper == "B" else 1)

    @property
    def rule(self) -> str:
        """The tie rule and the labels that the number needs."""
        return _FLEUR_PASCAL if (self.metric, self.suite) == ("FLEUR", "pascal-50s") else _RULES[self.measure]

    @property
    def command(self) -> str:
        """The command that would give it."""
        file = _FILES[self.suite]
        if self.metric == "FLEUR":
            joined = "cat fleur_pascal_*.txt > fleur_pascal.txt && " if self.suite == "pascal-50s" else ""
            return f"{joined}python -m core suite {file} --scores {_FLEUR_SCORES[self.suite]} --evaluator fleur"
        if not self.evaluator:
            return f"python -m core suite {file} --scores SCORES --evaluator NAME"
        many = self.setting.partition(" reference")[0] if self.setting[:1].isdigit() else ""
        return f"python -m core suite {file} IMAGES --evaluator {self.evaluator}{f' --references {many}' * bool(many)}"


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A printed number, what was reached (× 100; None where it was not run), and by which weights or file."""

    value: PrintedValue
    got: float | None
    weights: str

    @property
    def found(self) -> str:
        """AGREES to the last printed digit, DIFFERS, or NOT_RUN."""
        if self.got is None:
            return NOT_RUN
        return AGREES if abs(self.got - self.value.percent) <= self.value.half + 1e-9 else DIFFERS


def printed_values() -> tuple[PrintedValue, ...]:
    """Every number of the five papers on these suites, FLEUR's first; papers D and E print none."""
    with (assets_dir() / "printed_values.csv").open(encoding="utf-8", newline="") as file:
        return tuple(PrintedValue(**row) for row in csv.DictReader(file))


def reproduced(results: Iterable[SuiteResult]) -> tuple[Reproduced, ...]:
    """Every printed number beside the first kept result that is of its metric, suite and references."""
    known = [(held.suite.casefold(), each) for held in results for each in held.reached if not each.calibrated]
    return tuple(_held(value, [each for suite, each in known if suite == value.suite]) for value in printed_values())


def _held(value: PrintedValue, reached: Iterable[Reached]) -> Reproduced:
    measure = _MEASURES.get(value.measure, value.measure)
    if value.suite == "vatex-eval" and measure == "tau_b":
        measure = "tau_b_raters"
    group = MEAN if value.group == "mean" else value.group
    for each in reached:
        if each.evaluator.partition("@")[0] != value.evaluator or not value.evaluator:
            continue
        if value.setting[:1].isdigit() and not each.references.startswith(value.setting):
            continue
        for row in each.rows:
            usual = row.dimension in ("", CORRECTNESS) and not row.rater
            if usual and (row.measure, row.group) == (measure, group) and row.value is not None:
                return Reproduced(value, row.value, each.made_with)
    return Reproduced(value, None, "")
