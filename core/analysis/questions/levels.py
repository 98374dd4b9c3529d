"""What the edits did: failures by what the variants tell, orders of several groups, and answers where both are true."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from core.analysis.beside import every_caption
from core.analysis.comparisons import (
    DIRECTIONAL,
    RESPONSE,
    Capability,
    comparison_rows,
    families,
    named,
    pairs,
    percent,
)
from core.analysis.effects import CELL, Group, bounds, corpora, effects, ends, median_over
from core.analysis.facts import fact, keys
from core.analysis.lacks import no_family_of
from core.analysis.questions import papers
from core.analysis.questions.both_sides import OF
from core.analysis.questions.caption_sets import with_pair
from core.analysis.questions.columns import (
    CORRECTED,
    COUNT,
    FAILURE,
    HEAD,
    HOW,
    MEDIAN,
    NOTE,
    PAIRS,
    PERCENT,
    STANDARDISED,
    TIED_SHARE,
    TIES,
    VERDICT,
    WHAT,
    WOULD_HAVE_TOLD,
    under_its_caption,
)
from core.analysis.questions.directional import DEPTH, MADE, SECTION, needs
from core.analysis.questions.question import Column, Options, Question, bounded
from core.analysis.scores import once
from core.analysis.table import ScoreTable, View
from core.probes.base import FALSITY, IDENTITY
from core.statistics.comparisons import MOST, orders, pairwise_orders
from core.statistics.shares import mean_of_shares, share
from core.statistics.wording import remarks

ABOVE = 1.0  # Orders of more than this percent of the items are shown. Source: paper D's code prints every one
FEW = 30  # Comparisons below which a row is shown in grey. Source: DIRECTIONAL, section 4.2

FEWER = f"fewer than {FEW} comparisons"
ALL_ITEMS, MEAN_OF = "all items", "mean of {}s"
"""Rows over every value of a fact: paper E's overall failure counts items, and a mean of domains does not."""

_ORDERS = ("evaluator", "corpus", "family", "order", "n", "n_items", "share", "low", "high")
_PAIRWISE = ("evaluator", "corpus", "family", "above", "below", "n", "n_items", "share", "low", "high", *TIED_SHARE)
_SHARE = Column("share", "Share, % [95 % CI]", digits=1, low="low", high="high")


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """Tables by facts, orders, and every family both of whose sides are true."""
    there = [name for each in every_caption(table) for name in each.of_expectation(RESPONSE)]
    responses = dict.fromkeys([*there, *papers.RESPONSES])
    return (
        *(_by_fact(id_, paper, (key,)) for key, (id_, paper) in papers.FACTS.items()),
        _by_fact(*papers.OTHER_FACTS),
        _orders(),
        _pairwise(),
        under_its_caption(_crossings()),
        *(under_its_caption(_response(name)) for name in responses if name != papers.NESTED),
    )


def _by_fact(id_: str, paper: str, named: tuple[str, ...] = ()) -> Question:
    of = (*HEAD, WHAT, OF, Column("key", "Fact", kind="text"), Column("label", "Value", kind="text"))
    columns = (*of, COUNT, PAIRS, FAILURE, TIES, MEDIAN, VERDICT, *WOULD_HAVE_TOLD, *CORRECTED, NOTE)
    overall = id_ in papers.OVERALL

    def chosen(table: ScoreTable, probes: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
        found = keys(table, probes)
        return {key: levels for key, levels in found.items() if (key in named if named else key not in papers.FACTS)}

    def compute(view: View, options: Options) -> pd.DataFrame:
        parts = list[pd.DataFrame]()
        for family, probes in families(view).items():
            for key, levels in chosen(view.table, probes).items():
                test = Capability("", family, view.table.axis_of(family), probes, "", key)
                parts += _of_fact(view, test, levels, known=options.known, overall=overall)
        found = pd.concat(parts, ignore_index=True) if parts else comparison_rows(view, []).assign(key="", of="")
        few = found["n"] < FEW
        said = [remarks(note, FEWER if each else "") for note, each in zip(found["note"], few, strict=True)]
        return found.assign(grey=few, note=said)

    def lacking(table: ScoreTable) -> str:
        reason = needs(table)
        if reason or any(chosen(table, probes) for probes in table.of_expectation(DIRECTIONAL).values()):
            return reason
        what = f"the fact {named[0]!r}" if named else "a fact with several values"
        return f"no variant of a directional probe here tells {what}"

    title = f"Failures by {named[0]}" if named else "Failures by what the edit did"
    note = (
        f"{HOW}A row is the comparisons whose variant tells this value. Holm’s correction within evaluator, corpus, "
        f"family, comparisons and fact. The fact {FALSITY} says whether the wrong side is known to be wrong, or only "
        f"should be. Rows of fewer than {FEW} comparisons say so, and stand in grey on the page."
    )
    if overall:
        means = f"“{MEAN_OF.format(named[0])}” every {named[0]} weighs the same, and its interval joins theirs"
        note += f" In “{ALL_ITEMS}” every comparison counts once, in {means}."
    question = Question(id_, title, SECTION, MADE, note, columns, compute, lacking, paper=paper)
    return replace(question, tests="the values of the fact", asks=("known",))


def _of_fact(
    view: View, test: Capability, levels: Sequence[str], *, known: bool, overall: bool
) -> Iterator[pd.DataFrame]:
    """Rows of the values of one fact of a family, paper E's pair first; ``overall``: then all items, and the mean."""
    for own, of in with_pair(view.table, [replace(test, tests=f"{test.family} by {test.key}")]):
        found = comparison_rows(view, [replace(own, label=level, level=level) for level in levels], known=known)
        if overall and len(found):
            whole = comparison_rows(view, [replace(own, label=ALL_ITEMS, tests="", key="")], known=known)
            found = pd.concat([found, whole, _means_of(view, own, levels, known=known)], ignore_index=True)
            found = found.sort_values(["evaluator", "corpus"], kind="stable", ignore_index=True)
        yield found.assign(key=test.key, of=of)


def _means_of(view: View, test: Capability, levels: Sequence[str], *, known: bool) -> pd.DataFrame:
    """Failures as the mean over the values of a fact, each weighing the same."""
    table, records = view.table, list[dict[str, object]]()
    told = fact(table, test.key, test.probes)
    for evaluator in view.evaluators:
        both = pairs(view, evaluator, test.probes, known=known)
        for corpus, own in corpora(table):
            there = ~np.isnan(both.right + both.wrong) & own & np.isin(told, list(levels))
            if not there.any():
                continue
            items = np.broadcast_to(np.arange(len(own)), there.shape)
            sources = table.clusters(items)
            cells = [cell for level in levels if (cell := there & (told == level)).any()]
            failed, tied = (
                mean_of_shares([share(each[cell], groups=sources[cell]) for cell in cells])
                for each in (both.wrong >= both.right, both.wrong == both.right)
            )
            row = named(evaluator, corpus, replace(test, label=MEAN_OF.format(test.key)))
            row |= {"tests": "", "n": int(there.sum()), "n_items": len(set(items[there])), **percent("failure", failed)}
            records.append({**row, **percent("ties", tied), "verdict": "", "m_tests": 0, "note": failed.note})
    return pd.DataFrame(records)


def tables_of(table: ScoreTable, family: str) -> tuple[str, ...]:
    """Numbers of the tables of orders and facts that can have a row of a directional family."""
    told = keys(table, table.of_expectation(DIRECTIONAL).get(family, ()))
    return (
        *((papers.ORDERS[0],) if family in _groups(table) else ()),
        *(id_ for key, (id_, _) in papers.FACTS.items() if key in told),
        *((papers.OTHER_FACTS[0],) if set(told) - set(papers.FACTS) else ()),
    )


@once
def _groups(table: ScoreTable) -> Mapping[str, tuple[str, ...]]:
    """Family -> its probes and what they are compared with, of those that have three or four: their scores have orders.
    Which baseline a probe has may differ from item to item; that of most scores counts."""
    broken, answered = (table.of_expectation(each) for each in (DIRECTIONAL, RESPONSE))
    groups = {}
    for family in {**broken, **answered}:  # one may hold probes of both
        probes = (*answered.get(family, ()), *broken.get(family, ()))
        named = [name for probe in probes if (name := _baseline(table, probe))]
        groups[family] = tuple(dict.fromkeys([*named, *probes]))
    return {family: names for family, names in groups.items() if 3 <= len(names) <= MOST}


def _baseline(table: ScoreTable, probe: str) -> str:
    places = table.baselines[:, table.places((probe,))[0]]
    known = places[places >= 0]
    return str(table.probes.index[int(np.bincount(known).argmax())]) if len(known) else ""


def _no_groups(table: ScoreTable) -> str:
    if _groups(table):
        return ""
    return needs(table) or f"no family here has three or {MOST} groups of scores to put in order"


def _of_groups(
    view: View, answer: Callable[..., pd.DataFrame], columns: Sequence[str], *, shares: Sequence[str]
) -> pd.DataFrame:
    """What is said of the groups of every family, evaluator and corpus; ``shares`` in percent; ``answer``: of name ->
    scores [n] and the items' sources; see :func:`core.statistics.comparisons.orders`."""
    table, parts = view.table, list[pd.DataFrame]()
    for evaluator in view.evaluators:
        for family, names in _groups(table).items():
            scores = view.after(evaluator, names)
            for corpus, own in corpora(table):
                kept = own & view.items
                groups = {name: row[kept] for name, row in zip(names, scores, strict=True)}
                found = answer(groups, sources=table.sources_of(kept))
                parts.append(found.assign(evaluator=evaluator, corpus=corpus, family=family))
    whole = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(columns))
    return whole.assign(**{name: 100 * whole[name] for name in shares})[list(columns)]


def _orders() -> Question:
    id_, paper = papers.ORDERS
    order, n = Column("order", "Order", kind="text"), Column("n", "n in it", digits=0)
    columns = (*HEAD, WHAT, order, n, COUNT, _SHARE)

    def compute(view: View, options: Options) -> pd.DataFrame:
        shown = _of_groups(view, orders, _ORDERS, shares=("share", "low", "high"))
        return shown[shown["share"] > ABOVE].reset_index(drop=True)

    note = (
        f"Items whose groups all have a score, by the order of these scores, highest first; {MOST} groups at most. "
        f"Orders of at most {ABOVE:g} % of the items are left out; an item two of whose scores are equal is tied. "
        "Wilson’s interval over sources."
    )
    title = "In which order do the groups of an item stand?"
    return Question(id_, title, SECTION, DEPTH, note, columns, compute, _no_groups, paper=paper)


def _pairwise() -> Question:
    above, below = Column("above", "This", kind="text"), Column("below", "above this", kind="text")
    columns = (*HEAD, WHAT, above, below, COUNT, _SHARE, TIES)

    def compute(view: View, options: Options) -> pd.DataFrame:
        return _of_groups(view, pairwise_orders, _PAIRWISE, shares=("share", "low", "high", *TIED_SHARE))

    note = "Share of the items in which one group scores strictly above another; Wilson’s interval over sources."
    title = "Which group stands above which?"
    return Question("C18-pairs", title, SECTION, DEPTH, note, columns, compute, _no_groups, part_of=papers.ORDERS[0])


def crossings(table: ScoreTable) -> dict[str, str]:
    """Directional probe -> what its own right side is compared with, where that is its own probe. E.g. three shuffled
    objects -> two named ones: a caption that says more and is broken, against one that says less."""
    found = {}
    for probe in (name for probes in table.of_expectation(DIRECTIONAL).values() for name in probes):
        right = _baseline(table, probe)
        less = _baseline(table, right) if right in table.probes.index else ""
        if less and less != IDENTITY:
            found[probe] = less
    return found


def _crossings() -> Question:
    id_, paper = papers.CROSSINGS
    of = Column("label", "Says more, broken", kind="text"), Column("below", "Says less, right", kind="text")
    higher = replace(_SHARE, header="Broken scores higher, % [95 % CI]")
    columns = (*HEAD, *of, COUNT, higher, TIES, bounded("value", "Median Δ, SD [95 % CI]", digits=3, signed=True))

    def compute(view: View, options: Options) -> pd.DataFrame:
        table, records = view.table, list[dict[str, object]]()
        for evaluator, (probe, less), (corpus, own) in product(
            view.evaluators, crossings(table).items(), corpora(table)
        ):
            moved = view.after(evaluator, (probe,))[0] - view.after(evaluator, (less,))[0]
            if (kept := own & view.items & ~np.isnan(moved)).any():
                groups, unit = table.sources_of(kept), table.spread(evaluator, corpus)
                found, ties = (share(each, groups=groups) for each in (moved[kept] > 0, moved[kept] == 0))
                middle = median_over(moved, kept, table.sources)
                told = {"evaluator": evaluator, "corpus": corpus, "label": probe, "below": less, "n_items": found.n}
                told |= ends(found, ("share", "low", "high"), times=100) | percent("ties", ties)
                told |= ends(middle, bounds("value"), unit=unit if unit > 0 else np.nan)
                records.append(told | {"note": middle.note})
        names = [*CELL, "label", "below", "n_items", "share", "low", "high", *TIED_SHARE, *bounds("value"), "note"]
        return pd.DataFrame(records, columns=names)

    def lacking(table: ScoreTable) -> str:
        return "" if crossings(table) else needs(table) or "no broken caption here is held against one that says less"

    note = (
        "A broken caption that names more, against a right one that names less: which does the evaluator put higher? "
        "Median over items of the difference of their scores, in standard deviations of the unedited scores."
    )
    title = "Does saying more make up for being broken?"
    return Question(id_, title, SECTION, MADE, note, columns, compute, lacking, paper=paper)


def _response(family: str) -> Question:
    id_, paper = papers.RESPONSES.get(family, (f"C-{family}", ""))
    said = family.replace("-", " ")
    columns = (*HEAD, Column("label", "Probe", kind="text"), COUNT, PERCENT, STANDARDISED, *CORRECTED, NOTE)

    def compute(view: View, options: Options) -> pd.DataFrame:
        named = view.table.of_expectation(RESPONSE).get(family, ())
        groups = [Group(name, (name,), tests=family, shown=bool(view.probes((name,)))) for name in named]
        return effects(view, groups, margin=options.margin)

    lacking = partial(no_family_of, family=family, expectation=RESPONSE, what=f"the edits of the family {said}")
    note = (
        "Both sides are true, so that no answer is a failure: the change of each item from the probe that it is "
        "compared with, its median over items with a 95 % BCa interval. Holm’s correction over the family’s probes."
    )
    title = f"{said.capitalize()}: how does the score answer?"
    question = Question(id_, title, SECTION, MADE, note, columns, compute, lacking, paper=paper)
    return replace(question, tests="the probes of the family")
