"""The first page of a report in words, for those who do not know the papers: read aloud, it says what was found.

Every number is taken from an answer to a question; nothing is worked out here, and no sentence is read for a fact.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

import pandas as pd

from core.analysis.beside import caption_of
from core.analysis.both_demands import NO_FALL, NOT_ASKED, demands, half_asked
from core.analysis.comparisons import families as broken_families
from core.analysis.comparisons import picked_failure
from core.analysis.effects import named_worst
from core.analysis.flip_cells import REVERSED, shift_cells, widest_gaps
from core.analysis.flip_shifts import SAME
from core.analysis.overview import furthest, more_alike, worst_first
from core.analysis.questions.directional import RATES
from core.analysis.questions.selective import HEADLINE
from core.analysis.table import ScoreTable
from core.analysis.verdicts import (
    HOLDS,
    MARGIN,
    NO_CLAIM,
    NO_NULL,
    SCATTERS,
    SILENT,
    TOO_FEW_SOURCES,
    UNDECIDED,
    UNMOVED,
)
from core.probes.base import Axis
from core.report.document import Opening, number
from core.seeds import RUN_SEED
from core.statistics.bootstrap import LEAST_N, RESAMPLES
from core.statistics.wording import counted, listed, remarks

Answers = Mapping[str, pd.DataFrame]

NEEDED = ("S1", RATES, HEADLINE)
"""Questions that the words are made of, and the one that says how sure both demands together are."""

MOST_WORDS, MOST_IN_SENTENCE, MOST_NAMED, MOST_ACCEPTED, MOST_CAUTIONS = 450, 25, 4, 2, 5
"""Words of the first page and of a sentence; evaluators, accepted families, and lines on what must not be concluded."""

NULL = "null_median"  # Column of the families' table that holds the median |% change| of invisible edits

METHODS = (
    "An item is a picture with its caption. A probe edits either; probes of one kind are a family. % change is "
    "of the score before. An item counts once, by the median over a family's "
    "probes; a family's number is the median over items.",
    f"Intervals are of 95 %: BCa bootstrap ({RESAMPLES:,} resamples, seed {RUN_SEED}), of shares Wilson's; items of "
    "one source count together, of two likewise. What is named worst has one allowing for the picking. Below "
    f"{LEAST_N} items or sources no median has one, and nothing is claimed. The margin is ±{MARGIN:g} %. A family is "
    "unstable where the interval of its median |% change| lies above it, and drifts where that of its median % change, "
    "of the share of movers that fall or of the mean excludes none; tests are Holm-corrected.",
    "Nobody sees invisible edits. A harm is the absolute shift under a harmless edit, a "
    "drop the right side's score minus the wrong's; both in standard deviations of the unedited scores. "
    "Selectivity is the probability that, of one item, a "
    f"drop exceeds a harm, ties one half. By harmless edits, leads below the trustworthy gap are {REVERSED}.",
)
"""How every number was made, a paragraph each; 200 words together."""


def opening(
    table: ScoreTable,
    answers: Answers,
    *,
    studied: bool,
    words: Collection[str],
    accepted: Mapping[str, str] = MappingProxyType({}),
) -> Opening:
    """Write the first page. ``answers``: to NEEDED at least, where they could be asked, by id. ``studied``: whether
    people judged pairs of these runs. ``words``: families that :func:`core.analysis.facts.may_be_true`. ``accepted``:
    families of words that people accept, with what they said."""
    names = ["corpus", "tests", "axis", "evaluator", "drift", "label", "than_null"]
    rows, both = answers.get("S1", pd.DataFrame(columns=names)), demands(table.view())
    # the families that were tested, in the corpus that the report is about
    kept = (rows["corpus"] == table.scope.corpus) & (rows["tests"] != "") & (rows["axis"] != Axis.NULL.value)
    rows = rows[kept].assign(family=rows["label"])
    falls = both[both["corpus"] == table.scope.corpus].set_index("evaluator")["falls"].astype(str).to_dict()
    scatters = set(rows.loc[(rows["scatter"] == SCATTERS) & ~rows["family"].isin(words), "evaluator"])
    fails = {name: (falls.get(name) == NO_FALL) + (name in scatters) for name in table.evaluators}
    worst = sorted(fails, key=lambda name: (-fails[name], name))
    # the largest trustworthy gaps of families whose words no picture decides
    cells = (each for each in shift_cells(table.view()) if each.corpus == table.scope.corpus)
    gaps = widest_gaps(each for each in cells if each.axis != Axis.NULL.value and each.family not in words)
    told = dict[str, tuple[str, ...]]()
    for name in sorted(worst[:MOST_NAMED]):
        own = rows[(rows["evaluator"] == name) & rows["median_percent"].notna()]
        told[name] = _of(name, own, table, answers, _gap(gaps, name), falls.get(name, NOT_ASKED), words)
    asked = [*_asked(table, rows, answers, words)]
    asked += [f"Of {name}, {what}." for name, what in list(accepted.items())[:MOST_ACCEPTED]]
    if len(accepted) > MOST_ACCEPTED:
        asked.append(f"Of {len(accepted) - MOST_ACCEPTED} more families they accept most, too.")
    return Opening(tuple(asked), told, tuple(_cautions(table, rows, words, studied=studied))[:MOST_CAUTIONS])


def _asked(table: ScoreTable, rows: pd.DataFrame, answers: Answers, words: Collection[str]) -> Iterator[str]:
    held = "the template caption" if table.scope.subject == "template" else "captions that people wrote"
    several = len(table.corpora) > 1
    where = f"{len(table.corpora)} corpora" if several else f"corpus {table.corpora[0]}"
    more, of = len(table.evaluators) - MOST_NAMED, f" of corpus {table.scope.corpus}" if several else ""
    said = (
        "A metric (evaluator) scores how well a caption describes a picture. Does it ignore edits that leave the "
        f"meaning, and notice those that break it? This is of {counted(len(table.evaluators), 'metric')} on "
        f"{counted(len(table.items), 'item')} of {where}, under {counted(len(table.probes), 'edit')} (probes), with "
        f"{held} in {table.scope.language}. Changes are those of the middle item{of}, in either direction. Brackets "
        "hold 95 % intervals. Evaluators stand by name, not by merit."
    )
    if rows["family"].isin(words).any() and not rows["family"].isin(words).all():
        said += " Edits that add a word which may be true of the picture are left out."
    if len(answers.get(RATES, ())):
        said += " A comparison is missed where the broken side scores at least as high."
    yield said + (f" {more} more stand in the data; none fails more of the two demands." if more > 0 else "")
    if half := half_asked(table.view()):
        yield half


def _of(
    name: str, rows: pd.DataFrame, table: ScoreTable, answers: Answers, gap: str, falls: str, words: Collection[str]
) -> tuple[str, ...]:
    """Three sentences on one evaluator: how far it changes, what it fails to see, its trustworthy gap."""
    corpus = table.scope.corpus
    if silent := table.silent(name, corpus):
        return (f"{silent[:1].upper()}{silent[1:]}.",)
    known = rows[~rows["family"].isin(words)]
    if rows.empty:
        withheld = "Of no family is a change in percent known: some of its baseline scores are negative"
        moved = withheld if table.withheld(name, corpus) else ""
    elif known.empty:
        moved = f"Only words that may be true were put in; {_moves(rows, table)}"
    else:
        moved = f"It {_stability(known, table)}"
    missed = _broken(name, table, answers)
    # of broken meanings without a harmless edit no typical drop is told: what it missed stands alone
    told = falls != NOT_ASKED or not broken_families(table.view())
    noticed = remarks(f"it {falls}" if told else "", missed)
    noticed = f"{noticed[:1].upper()}{noticed[1:]}"
    return tuple(f"{each}." for each in (moved, noticed, gap) if each)


def _stability(rows: pd.DataFrame, table: ScoreTable) -> str:
    """Whether it is stable under some families, by what their intervals allow to claim, and how far it changes."""
    scatter = rows["scatter"]
    if (scatter == SCATTERS).any():
        return f"changes under harmless edits; {_moves(rows, table, times=True)}"
    if (scatter == HOLDS).all():
        return f"is stable under harmless edits; {_moves(rows, table)}"
    if (scatter == UNMOVED).all():
        return f"changed under no harmless edit of {counted(rows['n_items'].max(), 'item')}, too few to show stability"
    if scatter.isin(NO_CLAIM).all():
        lack = "sources" if (scatter == TOO_FEW_SOURCES).all() else "items"
        return f"has too few {lack} to show stability; {_moves(rows, table)}"
    return f"is not clearly stable; {_moves(rows, table)}"


def _moves(rows: pd.DataFrame, table: ScoreTable, *, times: bool = False) -> str:
    """The family that changes it most: how far, and where it is known to change, how many times invisible edits."""
    first = worst_first(table.view(), rows, ("evaluator",)).head(1)
    row = named_worst(table.view(), first.assign(n_families=len(rows))).iloc[0]
    named = f"{_said(row)}{more_alike(int(row['alike']))}"
    s = "" if row["alike"] > 1 or row["axis"] == Axis.SOCIETAL.value else "s"
    if not row["median_abs_percent"]:
        share, many = number(row["beyond"], digits=0), counted(int(row["n_items"]), "item")
        return f"medians are 0, but {named} move{s} {share} % of {many}’ edits past ±{MARGIN:g} %"
    floor = row[NULL] if times else 0
    more = f"; {row['median_abs_percent'] / floor:.1f} times invisible edits" if floor > 0 else ""
    far = number(row["median_abs_percent"], digits=1)
    return f"{named} change{s} it most: {far} %{_ends(row, 'abs_low', 'abs_high', 1)}{more}"


def _gap(gaps: pd.DataFrame, name: str) -> str:
    """The largest trustworthy gap of an evaluator; empty where none is known."""
    own = gaps[gaps["evaluator"] == name]
    if own.empty or not (row := furthest(own, value="d").iloc[0])["said"]:
        return ""
    known = row["pairs"] == SAME and not math.isnan(row["apart_d"])
    apart = f"; different pictures: {row['apart_d']:.3g}" if known else ""
    return f"{row['said'][:1].upper()}{row['said'][1:]} ({_ends(row, 'low', 'high').strip(', ')}{apart})"


def _broken(name: str, table: ScoreTable, answers: Answers) -> str:
    """What it fails to see most, in words that go on from its verdict; empty where too little was asked to say."""
    failures = answers.get(RATES, pd.DataFrame())
    if len(failures):  # families of the scope's caption, and not the kinds that some hold
        kept = (failures["evaluator"] == name) & (failures["corpus"] == table.scope.corpus)
        kept &= (failures["label"] == failures["family"]) & (failures["caption"] == caption_of(table))
        failures = failures[kept & ~failures["verdict"].isin(NO_CLAIM)]
    if failures.empty:
        return ""
    if not failures["failure"].any():
        return f"missed none of {counted(int(failures['n'].sum()), 'comparison')}"
    worst = furthest(failures.sort_values("family"), value="failure", low="failure_low", high="failure_high")
    row = worst.iloc[0]
    rate = picked_failure(table.view(), name, row["corpus"], row["family"], of=len(failures))
    ends = ", no interval" if math.isnan(rate.low) else f" [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"
    share = f"{number(row['failure'], digits=0)} % of {int(row['n']):,}{ends}"
    return f"missed most: {_said(row)}{more_alike(len(worst))}, {share}"


def _cautions(table: ScoreTable, rows: pd.DataFrame, words: Collection[str], *, studied: bool) -> Iterator[str]:
    """What must not be concluded, the gravest first; each goes on from "It must not be concluded:"."""
    if broken_families(table.view()):
        yield "That stability alone is a merit: a score that never changes is stable."
    few, open_ = int(rows["drift"].isin(NO_CLAIM).sum()), int((rows["drift"] == UNDECIDED).sum())
    if rows.loc[~rows["drift"].isin(SILENT), "than_null"].eq(NO_NULL).any():
        yield "That a change is more than noise: what invisible edits do is not known."
    if few:
        yield f"Anything from {few} of {len(rows)} families and evaluators: too few items or sources for a claim."
    if open_:
        are = "is" if open_ == 1 else "are"
        yield f"That undecided means unmoved: {open_} of {counted(len(rows), 'drift')} {are} undecided (table S1)."
    if (table.about.get("rejections", pd.DataFrame(columns=["code"]))["code"] == "order-free").any():
        alike = "evaluators without an order of frames score both alike, by construction"
        yield f"That a caption false of a video backwards would lose by it: {alike}."
    if there := sorted(set(words) & set(rows["family"])):
        named = listed([each.replace("-", " ") for each in there], most=MOST_NAMED)
        yield f"That a change under {named} words is an error: the picture may support the word."
    if not studied:
        yield "That people find the edited pairs as good: nobody was asked about these."
    missing = int((table.stored & pd.isna(table.scores)).sum())
    if missing:
        yield f"Anything about {counted(missing, 'pair')} without a score: they count nowhere as 0."
    if len(table.evaluators) > 1:
        yield "That the larger percentage is the worse: percent depends on where a score has its zero."
    yield "Anything about other pictures, captions, languages or edits."


def _said(row: pd.Series) -> str:
    words = str(row["family"]).replace("-", " ")
    return f"{words} words" if row["axis"] == Axis.SOCIETAL.value else words


def _ends(row: pd.Series, low: str, high: str, digits: int | None = None) -> str:
    """Interval and n behind a number; ends of three significant digits where no ``digits`` are named."""
    ends = (f"{row[name]:.3g}" if digits is None else number(row[name], digits=digits) for name in (low, high))
    told = ", no interval" if math.isnan(row[low]) else f" [{', '.join(ends)}]"
    return f"{told}, n = {int(row['n_items'])}"
