"""Flip risk: the trustworthy gap, how often an edit inverts a near tie (table 13, figure 11), gap by gap, and
what became of the near ties of a run that holds several captions of a picture.

Rows are the paper's contrasts, and the whole families beside them.
"""

from collections.abc import Collection, Hashable
from dataclasses import replace
from typing import Any

import pandas as pd

from core.analysis.beside import several_captions
from core.analysis.effects import PLAIN
from core.analysis.flip_cells import (
    EVIDENCE,
    IQR,
    ONE_CAPTION,
    PAIRS,
    READ,
    SCALE,
    TWO_PICTURES,
    Cell,
    cell_risks,
    evident_gaps,
    group_cells,
    turned_ties,
)
from core.analysis.lacks import NO_SHIFT, Lack
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, FAMILY, NOTE, SAID, Dots, opening
from core.analysis.questions.papers import CONTRAST, CONTRASTS, THINGS_ONLY, Named, named_groups, without
from core.analysis.questions.question import Column, Drawing, Options, Question
from core.analysis.scores import once
from core.analysis.table import ScoreTable, View
from core.charts.spec import Figure
from core.features.flips.flip_risk_figures import reliability
from core.probes.base import BASE_CAPTION, Axis
from core.statistics.bootstrap import LEAST_N
from core.statistics.flip_risk import GAPS, LEAST_EVIDENCE, LEAST_PICTURES, LEAST_SOURCES

GAP = 0.007  # gap of table 13, as a share. Source: paper A, section 3.4.

_INTERVALS = (
    "Intervals at 95 %, items of one source together: of the same picture half of Wilson's; of different pictures "
    "Student's on the logit, exact where no pair or every pair "
    f"exceeds the gap, none below {LEAST_SOURCES} items."
)
HOW = (
    "Probability that two captions d apart change places under an edit of the family; of different pictures under two "
    f"independent draws of the family's shifts, exact over all pairs of items. {READ} {_INTERVALS} d is a share of the "
    "span of the score's scale (0.7 % of a scale of 0 to 10 is 0.07), or of the interquartile range (IQR) of clean "
    "scores. The paper's contrasts come first, then whole families: all of a family's edits, each against its own "
    "baseline."
)
TURNED = (
    "Pairs of captions of one picture in the run itself, under every family's edits. Told is their mean risk at the "
    "gaps at which they stood before the edit, turned the share whose order the edit really inverted. Scores equal "
    "after the edit are not turned, those equal before are left out and counted. More turn than told where the gap "
    "itself tells how a pair moves, as where a caption that scores high has further to fall. Wilson's intervals at "
    f"95 %, pictures of one source together, every pair counting once; none below {LEAST_N} pictures."
)
_EVIDENT = (
    f"{EVIDENCE} In units of the score, and in percent of the interquartile range (IQR) and of the standard deviation "
    "(SD) of the evaluator's unedited scores. Family null: invisible edits. The risk never rises with the gap, "
    "so there is one such gap. Intervals at 95 %, items of one source together: the interval of the risk turned "
    f"round; none below {LEAST_PICTURES} pictures of several captions, {LEAST_EVIDENCE} items of one."
)
_OPENS = {"families": "opened_family", "probes": "opened_probes"}  # what a row opens; see :func:`_with_opened`
_KEYS = ["evaluator", "corpus", "axis", "family"]
_ROW, _OF = Column("label", "Contrast or family", kind="text"), Column("of", "Which", kind="text")
_ABOUT = (EVALUATOR, CORPUS, _ROW, _OF, COUNT)
_PAIRS = Column("pairs", "Captions of", kind="text", help=PAIRS)
_APART = "different pictures"
_NULL = Column("null_risk", "Invisible edits, risk %", digits=1, help="The risk under invisible edits, same gap")


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The trustworthy gap; risk at one gap, on both scales; and at every gap."""
    several = several_captions(table)
    whose = f" {PAIRS if several else ONE_CAPTION}"
    note, evidence = f"{HOW}{whose}{without(table)}", f"{_EVIDENT}{whose}"
    of = (_PAIRS,) if several else ()
    true = "" if several else f", {_APART}"
    evident = (
        *_ABOUT,
        SAID,
        *of,
        Column("value", f"Trustworthy gap{true} [95 % CI]", digits=4, low="low", high="high"),
        Column("of_iqr", "in % of the IQR", digits=1, low="of_iqr_low", high="of_iqr_high"),
        Column("of_sd", "in % of the SD", digits=1, low="of_sd_low", high="of_sd_high"),
        Column("null_d", "Invisible edits", digits=4, low="null_low", high="null_high"),
        *(behind("apart_d", "apart_low", "apart_high", digits=4) if several else ()),
        NOTE,
    )
    columns = (
        *_ABOUT,
        Column("n_shifts", "n shifts", digits=0),
        *of,
        Column("d", "d", digits=4),
        Column("value", f"Risk %{true} [95 % CI]", digits=1, low="low", high="high"),
        *(behind("apart_risk", "apart_low", "apart_high") if several else ()),
        _NULL,
        Column("over", "less null [95 % CI]", digits=1, signed=True, low="over_low", high="over_high"),
        Column("iqr_d", "d (IQR)", digits=4),
        Column("iqr_risk", f"Risk % at 0.7 % of the IQR{true} [95 % CI]", digits=1, low="iqr_low", high="iqr_high"),
        *(behind("iqr_apart_risk", "iqr_apart_low", "iqr_apart_high") if several else ()),
        Column("iqr_null_risk", "Invisible edits, risk %", digits=1),
        Column("iqr_over", "less null [95 % CI]", digits=1, signed=True, low="iqr_over_low", high="iqr_over_high"),
        NOTE,
    )
    looks: dict[str, Any] = {"order": _ordered, "opened": _with_opened}
    title = "Flip risk at a gap of 0.7 % of the scale"
    risks = Drawing("F11", title, note, Dots(values=PLAIN, axis="flip risk, %", **looks), "Figure 11", opens=_OPENS)
    dots = Dots(values=("of_iqr", "of_iqr_low", "of_iqr_high"), axis="gap, % of the IQR", **looks)
    gaps = Drawing("F-evidence", "Trustworthy gaps", evidence, dots, opens=_OPENS)
    wide = tuple(
        Column(f"risk_{gap:g}", f"d = {100 * gap:g} %", digits=1, low=f"low_{gap:g}", high=f"high_{gap:g}")
        for gap in GAPS
    )
    asked, paper = "From which difference on can a lead be trusted?", "B.5, sensitivity to the gap"
    by_gap, in_percent = (*_ABOUT, *of, *wide), f"{note} Risk in percent."
    return (
        Question("S24", asked, "flips", "evidence", evidence, evident, _evident, _needs, (gaps,)),
        Question("T13", title, "flips", "families", note, columns, _at_gap, _needs, (risks,), "Table 13"),
        Question("S10", "Flip risk by gap", "flips", "gaps", in_percent, by_gap, _by_gap, _needs, paper=paper),
        _became(),
    )


def behind(name: str, low: str, high: str, *, digits: int = 1) -> tuple[Column, ...]:
    """The column of what the number beside it would be of captions of different pictures."""
    return (Column(name, f"If of {_APART} [95 % CI]", digits=digits, low=low, high=high, help=TWO_PICTURES),)


def _became() -> Question:
    columns = (
        EVALUATOR,
        CORPUS,
        FAMILY,
        Column("told_of", "Told", kind="text"),
        Column("n_items", "n", digits=0, help="Pictures"),
        Column("n_pairs", "n pairs", digits=0),
        Column("told", "Told %", digits=1, help="Mean risk of captions of the same picture at the gaps of these pairs"),
        Column("turned", "Turned % [95 % CI]", digits=1, low="low", high="high"),
        Column("apart", "Told % if of different pictures", digits=1, help=TWO_PICTURES),
        Column("said", "Turned", kind="text"),
        Column("n_tied", "n equal", digits=0, help="Pairs of equal scores before the edit, left out"),
        NOTE,
    )
    title = "Do near ties turn as often as told?"
    drawing = Drawing("F-turned", title, TURNED, _reliability)
    return Question("S-turned", title, "flips", "turned", TURNED, columns, _turned, _untold, (drawing,))


def _untold(table: ScoreTable) -> str:
    if why := _needs(table):
        return why
    what = "the runs have one caption a picture, so that no pair of captions of one picture can turn"
    command = "python -m core audit --corpus demo --subject both"
    return "" if several_captions(table) else Lack(what, "an audit of two", command=command)


def _turned(view: View, options: Options) -> pd.DataFrame:
    found = turned_whole(view)
    return found.assign(**{name: 100 * found[name] for name in ("told", "apart", "turned", "low", "high")})


@once
def turned_whole(view: View) -> pd.DataFrame:
    """See :func:`turned_ties`, of the whole families."""
    rows, whole = named_rows(view), whole_labels(view)
    found = turned_ties(cell for cell in _cells(view) if cell.family in whole)
    return found.assign(family=found["family"].replace(dict(zip(rows["label"], rows["family"], strict=True))))


def _reliability(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    return replace(reliability(frame), id=drawing.id, title=drawing.title, note=drawing.note)


def _needs(table: ScoreTable) -> str:
    plain = any(name != BASE_CAPTION and not table.is_control(name) for name in table.families())
    return "" if plain else NO_SHIFT


_OVER, _IF_APART = ("over", "over_low", "over_high"), ("apart_risk", "apart_low", "apart_high")
_RISKS = ("risk", "low", "high", "null_risk", *_OVER, *_IF_APART)


@once
def _risks(view: View, unit: str) -> pd.DataFrame:
    found = cell_risks(_cells(view), unit=unit)
    return found.assign(**{name: 100 * found[name] for name in _RISKS})


@once
def _cells(view: View) -> tuple[Cell, ...]:
    return named_cells(view)


def named_cells(view: View) -> tuple[Cell, ...]:
    """Shifts of the paper's contrasts and of the whole families, of every evaluator and corpus, under their labels."""
    return group_cells(view, [(each.group, each.items) for each in _named(view)])


@once
def named_rows(view: View) -> pd.DataFrame:
    """Label of each of these, what it is of, and the family; see :class:`core.analysis.questions.papers.Named`."""
    rows = [(each.group.label, each.of, each.family) for each in _named(view)]
    return pd.DataFrame(rows, columns=["label", "of", "family"])


def whole_labels(view: View, *, without: Collection[str] = ()) -> set[str]:
    """Labels of the whole families, without those of some names."""
    rows = named_rows(view)
    return set(rows.loc[(rows["of"] != CONTRAST) & ~rows["family"].isin(without), "label"])


def _named(view: View) -> list[Named]:
    return named_groups(view, controls=(Axis.NULL.value,))


def _with_opened(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows (label, of, family, as in :class:`Named`) with the columns of _OPENS: the family whose pairs a row stands
    for, or the probes of a contrast. A contrast of two edits stands for no pair of Failures, nor does one that is said
    of things alone."""
    pairs = {
        each.label: ",".join(each.probes) for each in CONTRASTS if not each.against and each.family not in THINGS_ONLY
    }
    whole = frame["of"] != CONTRAST
    return frame.assign(
        opened_family=frame["family"].where(whole, ""),
        opened_probes=frame["label"].map(pairs).fillna("").where(~whole, ""),
    )


def _ordered(frame: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(frame["label"]))


def _evident(view: View, options: Options) -> pd.DataFrame:
    found = _labelled(view, evident_gaps(_cells(view)).rename(columns={"d": "value"}))
    return found[found["n_items"] > 0].reset_index(drop=True)


def _at_gap(view: View, options: Options) -> pd.DataFrame:
    own, iqr = (rows[rows["gap"] == GAP].drop(columns="gap") for rows in (_risks(view, SCALE), _risks(view, IQR)))
    iqr = iqr[[*_KEYS, "d", *_RISKS, "note"]].rename(columns={name: f"iqr_{name}" for name in ("d", *_RISKS, "note")})
    found = own.rename(columns={"risk": "value"}).merge(iqr, on=_KEYS, how="left")
    both = zip(found["note"], found.pop("iqr_note"), strict=True)
    found = _labelled(view, found.assign(note=[_by_gap_said(*each) for each in both]))
    return found[found["n_shifts"] > 0].reset_index(drop=True)


def _by_gap_said(scale: str, iqr: str) -> str:
    """What the remarks on two gaps say, each part once, with the gap that it speaks of unless that is both."""
    first, second = ([part for part in note.split("; ") if part] for note in (scale, iqr))
    said = {
        "": [part for part in first if part in second],
        f"gap of {100 * GAP:g} % of the scale: ": [part for part in first if part not in second],
        f"gap of {100 * GAP:g} % of the IQR: ": [part for part in second if part not in first],
    }
    return "; ".join(gap + ", ".join(dict.fromkeys(parts)) for gap, parts in said.items() if parts)


def _labelled(view: View, found: pd.DataFrame) -> pd.DataFrame:
    """Rows of cells with their label, what it is of, and the family."""
    known, labels = named_rows(view).set_index("label"), found["family"]
    return found.assign(label=labels, of=labels.map(known["of"]), family=labels.map(known["family"]))


@once
def _screened(view: View) -> dict[str, tuple[str, dict[str, str]]]:
    """Label of a row -> what a screen calls it, and the columns of _OPENS."""
    rows = _with_opened(named_rows(view))
    family = rows["family"].where(rows["of"] != CONTRAST, rows["label"])
    opened = rows[[*_OPENS.values()]].to_dict("records")
    return {
        str(label): (str(name), {str(key): str(said) for key, said in each.items()})
        for label, name, each in zip(rows["label"], family, opened, strict=True)
    }


def as_families(view: View, cells: pd.DataFrame) -> pd.DataFrame:
    """Rows of cells (evaluator, corpus, and in family the label of the cell) for a screen: a contrast that is a whole
    family goes by its name, and ``opens`` is what the mark opens; see
    :func:`core.analysis.questions.columns.opening`."""
    known = _screened(view)
    asked = list(zip(cells["evaluator"].tolist(), cells["corpus"].tolist(), cells["family"].tolist(), strict=True))
    made = {}
    for each in dict.fromkeys(asked):
        row: dict[Hashable, str] = {"evaluator": each[0], "corpus": each[1]}
        made[each] = opening(row | dict(known[each[2]][1]), _OPENS)
    return cells.assign(family=[known[label][0] for *_, label in asked], opens=[made[each] for each in asked])


def _by_gap(view: View, options: Options) -> pd.DataFrame:
    rows = _risks(view, SCALE)
    wide = _at_gap(view, options)[[*_KEYS, "label", "of", "n_items", "pairs"]]
    keys = ["evaluator", "corpus", "label"]
    for gap in GAPS:
        own = rows[rows["gap"] == gap].rename(columns={"family": "label"})[[*keys, "risk", "low", "high"]]
        wide = wide.merge(own.rename(columns={name: f"{name}_{gap:g}" for name in ("risk", "low", "high")}), on=keys)
    return wide
