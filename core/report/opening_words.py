"""The first page of a report in words, for those who do not know the papers: read aloud, it says what was found.

Every number is taken from an answer to a question; nothing is worked out here, and no sentence is read for a fact.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

import pandas as pd

from core.analysis.beside import caption_of
from core.analysis.both_demands import NOT_ASKED, demands, half_asked
from core.analysis.comparisons import families as broken_families
from core.analysis.comparisons import picked_failure
from core.analysis.effects import named_worst
from core.analysis.facts import MAY_BE_TRUE
from core.analysis.flip_cells import TWO_PICTURES, shift_cells, widest_gaps
from core.analysis.flip_shifts import SAME
from core.analysis.overview import furthest, more_alike, worst_first
from core.analysis.questions.directional import RATES
from core.analysis.questions.selective import HEADLINE
from core.analysis.selectivity import beside_chance
from core.analysis.table import ScoreTable
from core.analysis.verdicts import HOLDS, MARGIN, NO_CLAIM, SCATTERS, UNDECIDED, UNMOVED
from core.probes.base import Axis
from core.report.document import Opening, number
from core.seeds import RUN_SEED
from core.statistics.bootstrap import LEAST_N, RESAMPLES
from core.statistics.wording import counted

Answers = Mapping[str, pd.DataFrame]

NEEDED = ("S1", RATES, HEADLINE)
"""Questions that the words are made of."""

MOST_WORDS, MOST_NAMED, MOST_CAUTIONS = 450, 4, 5
"""Of the first page; evaluators in it, and lines on what must not be concluded."""

NULL = "null_median"
"""Column of the families' table that holds the median |% change| of invisible edits."""

METHODS = (
    "An item is a picture with its caption. A probe edits either; probes of one kind are a family. % change is "
    "of the score before. An item counts once, by the median over a family's "
    "probes; a family's number is the median over items.",
    f"Intervals are of 95 %: BCa bootstrap ({RESAMPLES:,} resamples, seed {RUN_SEED}), of shares Wilson's; items of "
    "one source count together, of two likewise. What is named worst has one allowing for the picking. Below "
    f"{LEAST_N} items or sources no median has one, and nothing is claimed. The margin is "
    f"±{MARGIN:g} %. A family is unstable where the interval of its median |% change| lies above it, and drifts where "
    "that of its median % change, of the share of movers that fall or of the mean excludes none; tests are "
    "Holm-corrected.",
    "Nobody sees invisible edits. A harm is the absolute shift under a harmless edit, a "
    "drop the right side's score minus the wrong's; both in standard deviations of the unedited scores. "
    "Selectivity is the probability that, of one item, a "
    "drop exceeds a harm, ties one half. Differences are no evidence below the gap at which a harmless edit inverts "
    "5 % of pairs.",
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
    """Write the first page.

    Args:
        table: the scores.
        answers: to NEEDED at least, where they could be asked, by id.
        studied: whether people judged pairs of these runs.
        words: families that :func:`core.analysis.facts.may_be_true`.
        accepted: families of words that people accept, with what they said.
    """
    rows = _families(table, answers)
    named = sorted(table.evaluators)[:MOST_NAMED]
    gaps = _gaps(table, words)
    told = {name: _of(name, rows, table, answers, gaps, words) for name in named}
    asked = (*_asked(table), *(f"Of {name}, {what}." for name, what in accepted.items()))
    return Opening(asked, told, tuple(_cautions(table, rows, words, studied=studied))[:MOST_CAUTIONS])


def _families(table: ScoreTable, answers: Answers) -> pd.DataFrame:
    """The families that were tested, in the corpus that the report is about."""
    rows = answers.get("S1", pd.DataFrame(columns=["corpus", "tests", "axis", "evaluator", "drift", "label"]))
    kept = (rows["corpus"] == table.scope.corpus) & (rows["tests"] != "") & (rows["axis"] != Axis.NULL.value)
    rows = rows[kept]
    return rows.assign(family=rows["label"])


def _asked(table: ScoreTable) -> Iterator[str]:
    held = "the template caption" if table.scope.subject == "template" else "captions that people wrote"
    several = len(table.corpora) > 1
    where = f"{len(table.corpora)} corpora" if several else f"corpus {table.corpora[0]}"
    more, of = len(table.evaluators) - MOST_NAMED, f" of corpus {table.scope.corpus}" if several else ""
    yield (
        "A metric scores how well a caption describes a picture. Does it ignore edits that leave the meaning, and "
        f"notice those that break it? Here are {counted(len(table.evaluators), 'metric')} (evaluators) on "
        f"{counted(len(table.items), 'item')} of {where}, under {counted(len(table.probes), 'edit')} (probes), with "
        f"{held} in {table.scope.language}. Numbers are of the middle item{of}. Evaluators stand by name, not by "
        "merit. Brackets hold 95 % intervals." + (f" {more} more stand in the data." if more > 0 else "")
    )
    if half := half_asked(table.view()):
        yield half


def _of(
    name: str,
    families: pd.DataFrame,
    table: ScoreTable,
    answers: Answers,
    gaps: pd.DataFrame,
    words: Collection[str],
) -> tuple[str, ...]:
    """Three sentences on one evaluator: both demands, how far it changes, what it fails to see or what is evidence."""
    corpus = table.scope.corpus
    if silent := table.silent(name, corpus):
        return (f"Nothing can be said: {silent}.",)
    rows = families[(families["evaluator"] == name) & families["median_percent"].notna()]
    both = demands(table.view())
    own = both[(both["evaluator"] == name) & (both["corpus"] == corpus)]
    falls = str(own["falls"].iloc[0]) if len(own) else NOT_ASKED
    gap, broken = _gap(gaps, name), _broken(name, own, table, answers)
    if rows.empty:
        withheld = "some of its baseline scores are negative" if table.withheld(name, corpus) else "none has one"
        first = (f"Of no family is a change in percent known: {withheld}. It {falls}.",)
        return tuple(filter(None, (*first, gap and f"{_capital(gap)}.", broken)))
    known = rows[~rows["family"].isin(words)]
    moved = _moves(known if len(known) else rows, table, words, aside=0 < len(known) < len(rows))
    verdict = (
        f"It {_stability(known)}, and it {falls}."
        if len(known)
        else f"Only words that may be true were put in; it {falls}."
    )
    if broken:
        return tuple(filter(None, (verdict, f"{moved}{f'. {_capital(gap)}' if gap else ''}.", broken)))
    return tuple(filter(None, (verdict, f"{moved}.", gap and f"{_capital(gap)}.")))


def _stability(rows: pd.DataFrame) -> str:
    """Whether it is stable under every family of some, by what their intervals allow to claim."""
    scatter = rows["scatter"]
    if (scatter == SCATTERS).any():
        return "changes under harmless edits"
    if (scatter == HOLDS).all():
        return "is stable under harmless edits"
    if (scatter == UNMOVED).all():
        return "changes under no harmless edit of these few"
    if scatter.isin(NO_CLAIM).all():
        return "has too few items to tell whether it is stable"
    return "is not shown to be stable"


def _moves(rows: pd.DataFrame, table: ScoreTable, words: Collection[str], *, aside: bool) -> str:
    """The family that changes it most: how far, beside invisible edits, and which way, where one is shown."""
    first = worst_first(table.view(), rows, ("evaluator",)).head(1)
    row = named_worst(table.view(), first.assign(n_families=len(rows))).iloc[0]
    named = f"{_said(row)}{more_alike(int(row['alike']))}"
    named += f" ({MAY_BE_TRUE})" if row["family"] in words else ""
    if not row["median_abs_percent"]:
        return (
            f"The middle item changes under none; under {named} {number(row['beyond'], digits=0)} % of the "
            f"edits of {counted(int(row['n_items']), 'item')} change it beyond the margin"
        )
    floor = row[NULL]
    times = f", {row['median_abs_percent'] / floor:.1f} times invisible edits" if floor > 0 else ""
    way = f". {_capital(row['direction'] or 'no direction is shown')}"
    return (
        f"{'Words that may be true aside, it' if aside else 'It'} changes most under {named}, in either direction by "
        f"{number(row['median_abs_percent'], digits=1)} % ({_between(row, 'abs_low', 'abs_high', 1)}, "
        f"n = {int(row['n_items'])}){times}{way}"
    )


def _gaps(table: ScoreTable, words: Collection[str]) -> pd.DataFrame:
    """The largest trustworthy gaps, in the corpus in view, of families whose words no picture decides."""
    cells = [
        each
        for each in shift_cells(table.view())
        if each.corpus == table.scope.corpus and each.axis != Axis.NULL.value and each.family not in words
    ]
    return widest_gaps(cells)


def _gap(gaps: pd.DataFrame, name: str) -> str:
    """The largest trustworthy gap of an evaluator; empty where none is known."""
    own = gaps[gaps["evaluator"] == name]
    if own.empty:
        return ""
    largest = furthest(own, value="d")
    row = largest.iloc[0]
    under = f"largest under {_said(row)}{more_alike(len(largest))}; "
    apart = f"; {TWO_PICTURES}, {row['apart_d']:.3g}" if row["pairs"] == SAME and not math.isnan(row["apart_d"]) else ""
    return f"{row['said']} ({under}{_between(row, 'low', 'high', 3)}, n = {int(row['n_items'])}){apart}"


def _broken(name: str, own: pd.DataFrame, table: ScoreTable, answers: Answers) -> str:
    """How much more a broken meaning costs than a harmless edit, and what it fails to see most; empty without any."""
    said = []
    if len(own) and not math.isnan(own["value"].iloc[0]):
        row = own.iloc[0]
        said.append(
            f"a broken meaning costs more than a harmless edit with probability {row['value']:.2f} "
            f"({_between(row, 'low', 'high', 2)}, n = {int(row['n_items'])}), "
            f"{beside_chance(*row[['chance', 'above', 'above_low', 'above_high']])}"
        )
    failures = answers.get(RATES, pd.DataFrame())
    if len(failures):  # families of the scope's caption, and not the kinds that some hold
        kept = (failures["evaluator"] == name) & (failures["corpus"] == table.scope.corpus)
        kept &= (failures["label"] == failures["family"]) & (failures["caption"] == caption_of(table))
        failures = failures[kept & ~failures["verdict"].isin(NO_CLAIM)]
    if len(failures):
        worst = furthest(failures, value="failure", low="failure_low", high="failure_high")
        row = worst.iloc[0]
        rate = picked_failure(table.view(), name, row["corpus"], row["family"], of=len(failures))
        ends = "no interval" if math.isnan(rate.low) else f"{100 * rate.low:.0f} to {100 * rate.high:.0f} %"
        where = f"most under {_said(row)}{more_alike(len(worst))}" if row["failure"] else "nowhere"
        lead = "" if row["failure"] else f", under {_said(row)} as elsewhere"
        said.append(
            f"it fails {where}: the broken side scores at least as high in "
            f"{number(row['failure'], digits=0)} % of {counted(int(row['n']), 'comparison')} ({ends}){lead}"
        )
    return f"{_capital('; '.join(said))}." if said else ""


def _cautions(table: ScoreTable, rows: pd.DataFrame, words: Collection[str], *, studied: bool) -> Iterator[str]:
    """What must not be concluded, the gravest first; each goes on from "It must not be concluded:"."""
    if broken_families(table.view()):
        yield "That stability alone is a merit: a score that never changes is stable."
    few, open_ = int(rows["drift"].isin(NO_CLAIM).sum()), int((rows["drift"] == UNDECIDED).sum())
    if few:
        yield f"Anything from {few} of {len(rows)} families and evaluators: too few items or sources for a claim."
    if open_:
        yield f"That undecided means unmoved: {open_} of {len(rows)} drifts are undecided."
    if (table.about.get("rejections", pd.DataFrame(columns=["code"]))["code"] == "order-free").any():
        yield (
            "That a caption which is false of a video backwards would lose by it: evaluators that know no order of the "
            "frames give both one score, by construction."
        )
    if there := sorted(set(words) & set(rows["family"])):
        named = _listed([each.replace("-", " ") for each in there])
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


def _between(row: pd.Series, low: str, high: str, digits: int) -> str:
    if math.isnan(row[low]):
        return "no interval"
    if digits == 3:
        return f"{row[low]:.3g} to {row[high]:.3g}"
    return f"{number(row[low], digits=digits)} to {number(row[high], digits=digits)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
