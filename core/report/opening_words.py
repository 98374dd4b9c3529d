"""The first page of a report in words, for those who do not know the papers: read aloud, it says what was found.

Every number is taken from an answer to a question; nothing is worked out here.
"""

import math
from collections.abc import Iterator, Mapping

import pandas as pd

from core.analysis.beside import caption_of
from core.analysis.overview import furthest, more_alike, picked_sizes, worst_first
from core.analysis.questions.controls import PASSES
from core.analysis.questions.cut_objects import SMALL_TURNS, UNCUT
from core.analysis.questions.directional import RATES
from core.analysis.questions.filters import OPEN, SAME, TURNED
from core.analysis.questions.papers import CONTRAST
from core.analysis.questions.selective import HEADLINE, unverified, usual
from core.analysis.selectivity import beside_chance
from core.analysis.table import ScoreTable
from core.analysis.verdicts import (
    DRIFTS,
    DRIFTS_WITHIN,
    MARGIN,
    NO_CLAIM,
    PARTS,
    SCATTERS,
    STILL,
    UNDECIDED,
    further_said,
    reached,
    smallest,
)
from core.probes.base import Axis
from core.report.document import Opening, number
from core.statistics.wording import counted

Answers = Mapping[str, pd.DataFrame]

NULL = "null_median"
"""Column of the families' table that holds the median |%Δ| of edits that nobody can see."""

_ASKS = (
    "An image–caption metric gives a picture and a caption a score: how well does the one describe the other? This "
    "report asks whether such scores hold still when picture or caption is edited so that the meaning stays. A score "
    "that moves then moves for no good reason. Each edit is a probe, probes of one kind are a family, and what is said "
    "of a family is said of its middle item, the median: half of the items lie below, half above."
)


def opening(table: ScoreTable, answers: Answers, *, studied: bool) -> Opening:
    """Write the first page.

    Args:
        table: the scores.
        answers: to every question that they could be asked, by id.
        studied: whether people judged pairs of these runs.
    """
    rows = _families(table, answers)
    told = {name: _of(name, rows, table, answers) for name in table.evaluators}
    return Opening((_ASKS, _audited(table)), told, tuple(_cautions(table, rows, answers, studied=studied)))


def _families(table: ScoreTable, answers: Answers) -> pd.DataFrame:
    """Rows of the families that are no control, on the corpus that the report is about."""
    rows = answers.get("S1", pd.DataFrame(columns=["corpus", "tests", "axis", "evaluator"]))
    kept = (rows["corpus"] == table.scope.corpus) & (rows["tests"] != "") & (rows["axis"] != Axis.NULL.value)
    rows = rows[kept]
    return rows.assign(family=rows.get("label"))


def _audited(table: ScoreTable) -> str:
    items = table.items
    sizes = [f"{int(table.of_corpus(name).sum())} of corpus {name}" for name in table.corpora]
    corpora = f"of corpus {table.corpora[0]}" if len(sizes) == 1 else f"({_listed(sizes)})"
    sources = items["source"].nunique()
    shared = f", made of {sources} pictures or cut-outs" if sources < len(items) else ""
    families = _listed([name.replace("-", " ") for name in table.families() if not table.is_control(name)])
    held = "the template “There is a …”" if table.scope.subject == "template" else "the caption that people wrote"
    where = f" What is said below is of corpus {table.scope.corpus}." if len(table.corpora) > 1 else ""
    return (
        f"Audited were {counted(len(table.evaluators), 'evaluator')} ({_listed(table.evaluators)}) on {len(items)} "
        f"items {corpora}{shared}, under {len(table.probes)} probes. The families that should not matter are "
        f"{families}. While a picture is edited its caption is held: {held}, in language {table.scope.language}.{where}"
    )


def _of(name: str, families: pd.DataFrame, table: ScoreTable, answers: Answers) -> tuple[str, ...]:
    """Three sentences on one evaluator: drift, scatter, flip risk; a fourth where meanings were broken."""
    if silent := table.silent(name, table.scope.corpus):
        return (f"Of {name} nothing can be said: {silent}.",)
    rows = families[(families["evaluator"] == name) & families["median_percent"].notna()]
    broken = _broken(name, table, answers)
    if rows.empty:
        withheld = ": %Δ is withheld, some of its baseline scores are negative" * table.withheld(
            name, table.scope.corpus
        )
        return (f"Of {name} no family has a change in percent{withheld}.", *broken)
    return (_drift(rows, table), _scatter(rows, table), _risk(name, table, answers), *broken)


def _drift(rows: pd.DataFrame, table: ScoreTable) -> str:
    """The worst drift that is borne out; where none is, the largest median and why it is no claim."""
    rows = rows.assign(shift=rows["median_percent"].abs())
    claimed = rows[rows["drift"].isin((DRIFTS, DRIFTS_WITHIN))]
    claimed = claimed.assign(shift=claimed[["median_percent", "mean_percent"]].abs().max(axis=1))
    row = _worst(claimed if len(claimed) else rows, table, first=("shift",))
    if claimed.empty:
        more = reached(row["drift"], row["detectable"], row["needed"])
        return (
            f"Drift: no family is shown to push its score one way; {_no_drift(row, rows)} is "
            f"called “{row['drift']}”{f': {more}' if more else ''}."
        )
    small = ", which is still within the margin" if row["drift"] == DRIFTS_WITHIN else ""
    return (
        f"Drift: its score is pushed furthest by {_said(row)}{_alike(row)}, n = "
        f"{counted(row['n_items'], 'item')}: {row['direction']}{small}; {len(claimed)} of "
        f"{counted(len(rows), 'family', 'families')} drift."
    )


def _no_drift(row: pd.Series, rows: pd.DataFrame) -> str:
    """The largest median; where all are 0, that of the family whose items move most."""
    if row["shift"] or len(rows) == 1:
        return f"{_medians(row)} is the furthest{_alike(row)}, and that"
    return f"all {len(rows)} medians are {_size(0)}; that of the family whose items move most, {_medians(row)},"


def _scatter(rows: pd.DataFrame, table: ScoreTable) -> str:
    row = _worst(rows, table)
    (size,) = picked_sizes(table.view(), [(row["evaluator"], row["corpus"], row["family"], len(rows))])
    row = row.copy()
    row["abs_low"], row["abs_high"] = size.low, size.high
    beyond = int((rows["scatter"] == SCATTERS).sum())
    still = not row["median_abs_percent"] and len(rows) > 1
    all_still = f"all {len(rows)} medians are {_size(0)}; " if still else ""
    share = f", {number(row['beyond'], digits=0)} % of their edits beyond the margin" if still else ""
    return (
        f"Scatter: whichever way, {all_still}items move most under {_said(row)}{_alike(row)}, the middle one by "
        f"{_size(row['median_abs_percent'])} ({_between(row, 'abs_low', 'abs_high')}){share}{_against_null(row)}; "
        f"{beyond} of {counted(len(rows), 'family', 'families')} scatter beyond the margin of {MARGIN:g} %."
    )


def _against_null(row: pd.Series) -> str:
    floor = row[NULL]
    if math.isnan(floor):
        return ", with no edit beside it that nobody can see"
    if floor == 0:
        return ", where edits that nobody can see move it by nothing"
    times = row["median_abs_percent"] / floor
    return f", {times:.1f} times the {_size(floor)} of edits that nobody can see ({further_said(row)})"


def _risk(name: str, table: ScoreTable, answers: Answers) -> str:
    """The gap of evidence of the whole family that asks for the largest."""
    gaps = answers.get("S24", pd.DataFrame())
    if len(gaps):
        own = (gaps["evaluator"] == name) & (gaps["corpus"] == table.scope.corpus) & (gaps["of"] != CONTRAST)
        gaps = gaps[own & gaps["value"].notna() & (gaps["axis"] != Axis.NULL.value)]
    if not len(gaps):
        return "Flip risk: how large a difference of two scores must be to be evidence is not known."
    worst = furthest(gaps, value="value")
    row, named = worst.iloc[0], _listed([_named(*each) for each in zip(worst["family"], worst["axis"], strict=True)])
    floor = f"; under edits that nobody can see, the limit is {row['null_d']:.3g}" if row["null_d"] >= 0 else ""
    ends = "no interval" if math.isnan(row["low"]) else f"95 % interval {row['low']:.3g} to {row['high']:.3g}"
    share = "" if math.isnan(row["of_iqr"]) else f"{row['of_iqr']:.0f} % of the interquartile range of its scores, "
    return (
        "Flip risk: two scores count as different only where no edit that should not matter would often turn their "
        f"order round; under {named}, the worst here, {row['said']} ({ends}, "
        f"{share}n = {counted(int(row['n_items']), 'item')}){floor}."
    )


def _broken(name: str, table: ScoreTable, answers: Answers) -> tuple[str, ...]:
    """What it fails to see most, and whether it tells broken meanings from harmless edits; nothing where none was."""
    failures, selective = (_own(answers.get(id_), name, table.scope.corpus) for id_ in (RATES, HEADLINE))
    if len(failures):  # families of the scope's caption, and not the kinds that some hold
        whole = (failures["label"] == failures["family"]) & (failures["caption"] == caption_of(table))
        failures = failures[~failures["verdict"].isin(NO_CLAIM) & whole]
    if failures.empty:
        return ()
    worst = furthest(failures, value="failure", low="failure_low", high="failure_high")
    row, named = worst.iloc[0], _listed([_said(each) for _, each in worst.iterrows()])
    said = (
        f"Broken meaning: it fails {'most under' if row['failure'] else 'nowhere: under'} {named}"
        f"{', where' if row['failure'] else ''} the broken side scores at least as high in "
        f"{number(row['failure'], digits=0)} % of {counted(int(row['n']), 'comparison')} "
        f"(95 % interval {number(row['failure_low'], digits=0)} to {number(row['failure_high'], digits=0)} %, ties "
        f"{number(row['ties'], digits=0)} %): it {row['verdict']}"
    )
    kept = usual(selective) if len(selective) else selective
    if kept.empty:
        return (f"{said}.",)
    first, why = kept.iloc[0], unverified(kept)
    of = f": {why}" if why else ""
    ends = "no interval" if math.isnan(first["low"]) else f"95 % interval {first['low']:.2f} to {first['high']:.2f}"
    return (
        f"{said}; a broken meaning costs more than an edit that should not matter with probability "
        f"{first['value']:.2f} ({ends}, n = {counted(int(first['n_items']), 'item')}), "
        f"{beside_chance(*first[['chance', 'above', 'above_low', 'above_high']])}{of}.",
    )


def _own(frame: pd.DataFrame | None, name: str, corpus: str) -> pd.DataFrame:
    if frame is None or frame.empty:
        return pd.DataFrame()
    return frame[(frame["evaluator"] == name) & (frame["corpus"] == corpus)]


def _cautions(table: ScoreTable, rows: pd.DataFrame, answers: Answers, *, studied: bool) -> Iterator[str]:
    """What must not be concluded."""
    yield from _undecided(rows)
    yield from _still(rows)
    yield (
        "That the worst family is as bad as its estimate says: it was picked after the data were seen. Its interval "
        "of how far items move is adjusted for that."
    )
    if len(table.evaluators) > 1:
        yield (
            "That the evaluator with the larger percentage is the worse one: percent depends on where a score has "
            "its zero. Shifts in standard deviations compare evaluators."
        )
    yield from _controls(table, answers)
    yield from _orders(table)
    if not studied:
        yield (
            "That people find the edited pairs as good as the unedited ones: nobody was asked about pairs of these "
            "runs."
        )
    yield (
        "That an evaluator which holds still is a good one: one that always says the same holds still. Nothing here "
        "says how well a score agrees with people."
    )
    yield (
        f"Anything about other pictures, captions or languages: the items are of {_listed(table.corpora)}, the "
        f"captions of subject {table.scope.subject} in {table.scope.language}."
    )


def _still(rows: pd.DataFrame) -> Iterator[str]:
    """Families that do not drift, half of whose items move all the same, or a part of them."""
    still = rows[rows["drift"] == STILL]
    if len(most := still[still["scatter"] == SCATTERS]):
        yield (
            f"That no drift means that nothing moves: items of {_cells(most)} move beyond the margin, some up and "
            "some down, so that the middle one stays."
        )
    if len(part := still[still["scatter"] == PARTS]):
        ends = " to ".join(
            dict.fromkeys(number(each, digits=0) for each in (part["beyond"].min(), part["beyond"].max()))
        )
        yield (
            f"That no drift and a middle item within the margin mean that every item stays: of {_cells(part)}, "
            f"{ends} % of the edits move a score beyond the margin, which no median shows."
        )


def _cells(rows: pd.DataFrame) -> str:
    """Evaluators with their families, the first few by name."""
    named = [f"{row['evaluator']} under {_said(row)}" for _, row in rows.head(_NAMED).iterrows()]
    return _listed([*named, f"{len(rows) - _NAMED} more"] if len(rows) > _NAMED else named)


_NAMED = 6
"""Evaluators and families that a caution names at most."""


def _undecided(rows: pd.DataFrame) -> Iterator[str]:
    open_ = rows[rows["drift"] == UNDECIDED]
    if len(open_):
        found = open_["detectable"].dropna()
        ends = " to ".join(dict.fromkeys(map(smallest, (found.min(), found.max())))) if len(found) else ""
        shown = f"; the smallest drift that their n and spread would have shown is {ends} %" if ends else ""
        yield (f"That undecided means invariant: {len(open_)} of {len(rows)} drifts are undecided{shown}.")
    few = int(rows["drift"].isin(NO_CLAIM).sum())
    if few:
        yield (
            f"Anything at all from {few} of {len(rows)} families and evaluators: their items, or the sources of "
            "these, are too few for a claim."
        )


def _controls(table: ScoreTable, answers: Answers) -> Iterator[str]:
    blur = answers.get("S22", pd.DataFrame())
    failed = blur[(blur["said"] != PASSES) & (blur["corpus"] == table.scope.corpus)] if len(blur) else blur
    if len(failed):
        named = _listed(sorted(map(str, failed["evaluator"].unique())))
        yield (
            f"That a moved object's place is what moves the score: for {named} it could not be shown that moving "
            "the object does more than blur, which moves no object."
        )
    cut = answers.get("S-cut", pd.DataFrame())
    cut = cut[(cut["edit"] == SMALL_TURNS) & (cut["corpus"] == table.scope.corpus)] if len(cut) else cut
    if len(cut) and cut["cut_items"].max() > 0:
        without = cut[cut["label"].str.endswith(UNCUT)]
        told = {said: sorted(own["evaluator"]) for said, own in without.groupby("direction")}
        whole = cut[~cut["label"].str.endswith(UNCUT)]
        neither = set(whole.loc[(whole["low"] <= 0) & (whole["high"] >= 0), "evaluator"]) & set(told.get(OPEN, ()))
        both = f" (with them neither for {_listed(sorted(neither))})" if neither else ""
        stands = "; ".join(f"{words} for {_listed(told[said])}" for said, words in _WITHOUT_CUT if said in told)
        yield (
            f"That a rotation by ±10° always shows the same: it cut the object of {int(cut['cut_items'].max())} "
            f"items; without them the direction {stands or 'is not known'}{both} (table S-cut)."
        )
    missing = int((table.stored & pd.isna(table.scores)).sum())
    if missing:
        yield f"Anything about {counted(missing, 'pair')} without a score: they are left out and count nowhere as 0."


_WITHOUT_CUT = ((TURNED, "turns"), (OPEN, "cannot be told"), (SAME, "stays"))
"""Direction of the items that are left -> in words."""


def _orders(table: ScoreTable) -> Iterator[str]:
    found = table.about.get("rejections", pd.DataFrame(columns=["code"]))
    if (found["code"] == "order-free").any():
        yield (
            "That a caption which is false of a video backwards would lose by it: evaluators that know no order "
            "of the frames give both one score, by construction. That was not measured and counts "
            "nowhere."
        )


def _worst(rows: pd.DataFrame, table: ScoreTable, *, first: tuple[str, ...] = ()) -> pd.Series:
    return worst_first(table.view(), rows, ("evaluator",), first=first).iloc[0]


def _alike(row: pd.Series) -> str:
    """How many families nothing tells from the worst; empty where it is alone."""
    return more_alike(int(row["alike"]))


def _said(row: pd.Series) -> str:
    return _named(row["label"], row["axis"])


def _named(family: str, axis: str) -> str:
    words = f"{family.replace('-', ' ')}"
    return f"{words} words" if axis == Axis.SOCIETAL.value else f"edits of the family {words}"


def _medians(row: pd.Series) -> str:
    said = number(row["median_percent"], digits=1, signed=True)
    return f"{said} % under {_said(row)} ({_between(row, 'low', 'high')})"


def _size(value: float) -> str:
    return f"{number(abs(value), digits=1)} %"


def _between(row: pd.Series, low: str, high: str, *, unit: str = " %") -> str:
    if math.isnan(row[low]):
        return f"no interval, n = {int(row['n_items'])}"
    ends = f"{number(row[low], digits=1)} to {number(row[high], digits=1)}{unit}"
    return f"95 % interval {ends}" + (f", n = {counted(int(row['n_items']), 'item')}" if unit else "")


def _listed(names: "list[str] | tuple[str, ...]") -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
