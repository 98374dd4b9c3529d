"""Both sides of the directional comparisons: means, margins, spreads, shared words, and one example of every family.

Examples are ids and marks alone (source: paper E, Figure 1); the pairs with their captions and pictures are those of
:mod:`core.report.pair_slides`, and under Does it notice?. A test of shared words is a test of grounding: paper D's
pairs share most of theirs, so that no score can tell them by words alone; its F1 stands beside each test (4.1).
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.comparisons import (
    DIRECTIONAL,
    Capability,
    capabilities,
    comparison_rows,
    families,
    kinds,
    pairs,
    percent,
)
from core.analysis.effects import corpora
from core.analysis.questions import papers
from core.analysis.questions.caption_sets import WHOLE, with_pair
from core.analysis.questions.columns import (
    CORPUS,
    COUNT,
    DROP,
    FAILURE,
    HEAD,
    HOW,
    NOTE,
    PAIRS,
    TIES,
    WHAT,
    joined,
    marks,
)
from core.analysis.questions.directional import DEPTH, SECTION, TEST, named_axes, needs, numbers_of, rows
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.scores import once
from core.analysis.table import ScoreTable, View
from core.charts.spec import NEUTRAL, PALETTE, Axis, Figure, Style
from core.probes.words.caption_words import LANGUAGES, words
from core.seeds import RUN_SEED, stream
from core.statistics.bootstrap import Interval
from core.statistics.shares import share

RIGHT, WRONG = "right", "wrong"
MOST_BINS = 20  # Bins of a histogram over the scores of both sides, at most; fewer of few comparisons, by Rice's rule

SIDES = {RIGHT: Style(NEUTRAL), WRONG: Style(PALETTE[4], "square", dash="dash")}
_OF = (
    "The whole family; where it holds several kinds of wrong "
    "sides, each alone too. Paper E compares the correct picture with the adversary alone"
)
OF = Column("of", "Comparisons", kind="text", help=_OF)
_SCORES = ("evaluator", "corpus", "family", "side", "middle", "from_", "to", "share", "n", "n_items")


def of_scores(table: ScoreTable) -> tuple[Question, ...]:
    """Means, margins, and the scores of each axis."""
    return (_means(), _margins(), *(_scores(table, axis) for axis in named_axes(table)))


def _means() -> Question:
    id_, paper = papers.MEANS
    scaled = "The family’s scores run from 0, the lowest of either side, to 1, the highest"
    sides = (
        Column("mean_right", "Mean right", digits=4),
        Column("sd_right", "SD", digits=4),
        Column("mean_wrong", "Mean wrong", digits=4),
        Column("sd_wrong", "SD", digits=4),
        Column("scaled_right", "Right, scaled", digits=3, help=scaled),
        Column("scaled_sd_right", "SD, scaled", digits=3),
        Column("scaled_wrong", "Wrong, scaled", digits=3),
        Column("scaled_sd_wrong", "SD, scaled", digits=3),
    )
    columns = (*HEAD, WHAT, OF, COUNT, PAIRS, *sides, DROP, NOTE)
    read = (
        "Scaled so that the lowest score of a family is 0 and the highest "
        "1; the further the right side lies to the right of the wrong one, the better."
    )
    drawing = Drawing(f"{id_}-sides", "Mean scores of both sides", read, _dumbbell, paper, opens=TEST)
    note = (
        f"{HOW}Means over comparisons, raw and scaled; papers D and E print scaled means and do not say of what: here "
        "one lowest and one highest score of both sides of a family, for each evaluator, and for the kinds of it."
    )
    title = "Mean scores of right and wrong sides"
    return Question(id_, title, SECTION, DEPTH, note, columns, _all, needs, (drawing,), paper, asks=("known",))


def _margins() -> Question:
    id_, paper = papers.MARGINS
    correct = Column("correct", "Correct rankings: right − wrong", kind="text")
    incorrect = Column("incorrect", "Incorrect rankings: wrong − right", kind="text")
    columns = (*HEAD, WHAT, OF, COUNT, PAIRS, correct, incorrect, NOTE)
    note = (
        f"{HOW}Mean distance of the two sides, on scores scaled as in table {papers.MEANS[0]}, over the comparisons "
        "that are ranked right, and over the failures; how many they are stands in the cell."
    )
    title = "Margins of correct and of incorrect rankings"
    return Question(id_, title, SECTION, DEPTH, note, columns, _all, needs, paper=paper, asks=("known",))


def _all(view: View, options: Options) -> pd.DataFrame:
    return _sided(view, options.known)


@once
def _sided(view: View, known: bool) -> pd.DataFrame:
    """Every directional family, paper E's pair alone before it and its kinds behind it; column ``of`` says which."""
    found, whole = with_pair(view.table, capabilities(view)), rows(view, known)
    alone = comparison_rows(view, [test for test, of in found if not of.startswith(WHOLE)], known=known)
    named = {(test.family, test.probes): of for test, of in found}
    of_whole = {family: named[family, probes] for family, probes in families(view).items()}
    of_alone = {test.family: of for test, of in found if not of.startswith(WHOLE)}
    single = comparison_rows(view, _kinds(view, {test.probes for test, _ in found}), known=known)
    parts = [
        alone.assign(of=alone["family"].map(of_alone)),
        whole.assign(of=whole["family"].map(of_whole)),
        single.assign(of=single["label"]),
    ]
    both = pd.concat([each for each in parts if len(each)] or parts[1:], ignore_index=True)
    place = {name: number for number, name in enumerate(dict.fromkeys(whole["family"]))}
    order = pd.DataFrame({"evaluator": both["evaluator"], "corpus": both["corpus"], "at": both["family"].map(place)})
    return both.loc[order.sort_values(["evaluator", "corpus", "at"], kind="stable").index].reset_index(drop=True)


def _kinds(view: View, others: set[tuple[str, ...]]) -> list[Capability]:
    """Each kind of wrong side of the families that hold several: a probe each, or what one probe tells; ``others``:
    probes of the comparisons that have a row already."""
    probes = [
        Capability(name, family, view.table.axis_of(family), (name,))
        for family, own in families(view).items()
        for name in own
        if len(own) > 1 and (name,) not in others
    ]
    return [*probes, *(replace(each, tests="") for each in kinds(view))]


def _dumbbell(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    whole = frame["of"].astype(str).str.startswith(WHOLE)
    drawn = frame.assign(drawn=frame["family"].where(whole, frame["of"]))
    order = tuple(dict.fromkeys(map(str, drawn["drawn"])))
    return drawing.drawn(_scaled(drawn, "drawn", ("evaluator", "corpus")), **_JOINED, order=order)


_JOINED: Mapping[str, Any] = {
    "axis": "mean, scaled to 0–1",
    "styles": SIDES,
    "joined": True,
    "overlay": True,
    "counts": True,
}


def _scaled(rows: pd.DataFrame, label: str, panel: tuple[str, ...]) -> pd.DataFrame:
    sides = [rows.assign(side=side, value=rows[f"scaled_{side}"], low=math.nan, high=math.nan) for side in SIDES]
    parts = [marks(own, label=label, series="side", panel=panel, opens=TEST) for own in sides]
    return pd.concat(parts, ignore_index=True)


def dumbbell(rows: pd.DataFrame, family: str) -> Figure:
    """Mean scores of both sides of one family, a line an evaluator; ``rows``: of the family, as
    :func:`core.analysis.comparisons.comparison_rows` gives them."""
    title, data = f"{family}: mean scores of both sides", _scaled(rows, "evaluator", ("corpus",))
    styles = {**SIDES, WRONG: replace(SIDES[WRONG], size=6)}  # both are seen where they are equal
    look = {**_JOINED, "styles": styles, "span": (0.0, 1.0)}
    return Figure(f"{papers.MEANS[0]}-{family}", title, "", data, **look)


def _scores(table: ScoreTable, axis: str) -> Question:
    numbers = numbers_of(axis)
    own = tuple(name for name in table.of_expectation(DIRECTIONAL) if table.axis_of(name) == axis)
    title = f"{axis.capitalize()} edits: scores of right and wrong sides"
    read = f"Share of the comparisons in each bin, on the metric’s own scale; at most {MOST_BINS} bins, fewer of few"
    read += " comparisons."
    drawing = Drawing(numbers.scores, title, read, _histogram, numbers.scores_paper)

    def compute(view: View, options: Options) -> pd.DataFrame:
        return histograms(view, question.family(options), known=options.known)

    note = f"{HOW}Both sides of one family of edits."
    question = Question(f"{numbers.scores}-bins", title, SECTION, DEPTH, note, (), compute, partial(needs, axis=axis))
    question = replace(question, figures=(drawing,), paper=numbers.scores_paper, families=own)
    question = replace(question, asks=("family", "known"), pick=("evaluator",))
    return question


def histograms(view: View, family: str, *, known: bool = False) -> pd.DataFrame:
    """Shares of the comparisons of a family in equal bins of both sides' scores, raw. Returns evaluator, corpus,
    family, side, middle, from_ and to (of the bin), share (percent of the side), n (comparisons), n_items."""
    records, found = list[tuple[object, ...]](), families(view)
    for evaluator in view.evaluators if family in found else ():
        both = pairs(view, evaluator, found[family], known=known)
        for corpus, own in corpora(view.table):
            whole = ~(np.isnan(both.right) | np.isnan(both.wrong))[:, own]
            sides = {RIGHT: both.right[:, own][whole], WRONG: both.wrong[:, own][whole]}
            if not whole.any():
                continue
            bins = min(MOST_BINS, math.ceil(2 * len(sides[RIGHT]) ** (1 / 3)))
            edges = np.histogram_bin_edges(np.concatenate(list(sides.values())), bins)
            for side, scores in sides.items():
                counts, _ = np.histogram(scores, edges)
                of, sizes = (evaluator, corpus, family, side), (len(scores), int(whole.any(axis=0).sum()))
                records += [
                    (*of, (low + high) / 2, low, high, 100 * count / len(scores), *sizes)
                    for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True)
                ]
    return pd.DataFrame(records, columns=list(_SCORES))


def _histogram(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    several = [name for name in ("evaluator", "corpus") if len(frame[name].unique()) > 1]
    # raw scales of different evaluators never share an axis: side by side, each runs over its own scores
    groups = frame.groupby(["evaluator", "corpus"])
    low, high = groups["from_"].transform("min"), groups["to"].transform("max")
    at = frame["middle"] if not several else (frame["middle"] - low) / (high - low)
    hover = [
        f"{side}, {low:.3g} to {high:.3g}\n{share:.1f} % of {n} comparisons"
        for side, low, high, share, n in frame[["side", "from_", "to", "share", "n"]].itertuples(index=False)
    ]
    data = pd.DataFrame({"label": at, "series": frame["side"], "value": frame["share"]})
    data = data.assign(low=math.nan, high=math.nan, panel=joined(frame, several) if several else "")
    data = data.assign(n=frame["n"], hover=hover)
    family = f": {frame['family'].iloc[0]}" if len(frame) else ""
    along = Axis("score, lowest to highest" if several else "score")
    look: dict[str, Any] = {"kind": "lines", "unit": " %", "bounds": "none", "styles": SIDES, "height": 200}
    named = replace(drawing, title=f"{drawing.title}{family}")
    return named.drawn(data, "share of the comparisons", along=along, **look)


SEEN, MISSED, TIED, NOT_SCORED = "✓", "✗", "✗ tie", "–"


def of_examples(table: ScoreTable) -> tuple[Question, ...]:
    """The table of examples, a column of marks for every evaluator."""
    id_, paper = papers.EXAMPLES
    probe = Column("probe", "Probe", kind="text")
    item = Column("item", "Item", kind="text")
    columns = (CORPUS, WHAT, probe, item, *(Column(name, name, kind="text") for name in table.evaluators))
    note = (
        f"One comparison of every family, drawn with seed {RUN_SEED} among those that most evaluators scored, whatever "
        f"these made of it. {SEEN}: the right side scores higher; {MISSED}: it does not; {NOT_SCORED}: a side has no "
        "score. An example proves nothing; the rates do."
    )
    title = "Which evaluators see that the meaning broke? Examples"
    return (Question(id_, title, SECTION, DEPTH, note, columns, examples, needs, paper=paper, asks=("known",)),)


def examples(view: View, options: Options) -> pd.DataFrame:
    """One comparison of every family of the slice's caption, in the corpus that the others are held against. Returns
    corpus, family, probe, item, and a column of marks for every evaluator."""
    table, corpus = view.table, view.table.reference
    own = table.of_corpus(corpus)
    records = []
    for family, probes in families(view).items():
        sides = {name: pairs(view, name, probes, known=options.known) for name in view.evaluators}
        scored = np.array([~np.isnan(each.right - each.wrong) & own for each in sides.values()])
        most = scored.sum(axis=0)
        if not most.any():
            continue
        which, items = np.nonzero(most == most.max())
        drawn = int(stream(RUN_SEED, "example", family).integers(len(which)))
        place = which[drawn], items[drawn]
        told = {name: _mark(float(each.right[place]), float(each.wrong[place])) for name, each in sides.items()}
        item = str(table.items["item"].to_numpy(dtype=object)[place[1]])
        row = {"corpus": corpus, "family": family, "probe": probes[place[0]], "item": item}
        records.append(row | {name: told.get(name, NOT_SCORED) for name in table.evaluators})
    return pd.DataFrame(records, columns=["corpus", "family", "probe", "item", *table.evaluators])


def _mark(right: float, wrong: float) -> str:
    if np.isnan(right - wrong):
        return NOT_SCORED
    return SEEN if right > wrong else TIED if right == wrong else MISSED


OVERLAP, _OVERLAP_PAPER = "C17", "D, Table 4"


def of_words(table: ScoreTable) -> tuple[Question, ...]:
    """One table: overlap and failures of every family that breaks a caption."""
    help_ = "Mean over comparisons of the F1 of both captions’ sets of words, without case and punctuation; 1: the same"
    f1 = Column("f1", "Word overlap, F1", digits=3, help=f"{help_} words")
    help_ = "Both captions hold the same words, in another order or number; Wilson’s interval over sources"
    same = bounded("same", "Same words, % [95 % CI]", digits=1, help=help_)
    columns = (*HEAD, WHAT, COUNT, PAIRS, f1, same, FAILURE, TIES, NOTE)
    note = (
        "Comparisons of two captions of one picture, scored on both sides; those of two pictures have one caption. "
        "Paper D prints an F1 of 0.725 of its own pairs and of 0.224 of Composite’s. Japanese words are those of a "
        "dictionary."
    )
    title = "How many words do right and wrong captions share?"
    return (
        Question(
            OVERLAP, title, SECTION, DEPTH, note, columns, _compute, _lacking, paper=_OVERLAP_PAPER, asks=("known",)
        ),
    )


def token_f1(right: str, wrong: str, language: str = "en") -> float:
    """F1 of the sets of words of two captions, in [0, 1]; NaN where neither has a word.

    Example:
        >>> round(token_f1("A dog, a cat.", "a dog and a bird"), 3)
        0.571
    """
    one, other = _set(right, language), _set(wrong, language)
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else float("nan")


@cache
def _set(caption: str, language: str) -> frozenset[str]:
    return frozenset(word.core.casefold() for word in words(caption, language) if word.core)


def _lacking(table: ScoreTable) -> str:
    if why := needs(table):
        return why
    if table.texts is None:
        return "the captions of this table cannot be read again"
    if table.scope.language in LANGUAGES:
        return ""
    return f"words are told apart in {', '.join(LANGUAGES)}, and the captions are in {table.scope.language}"


def _compute(view: View, options: Options) -> pd.DataFrame:
    found = families(view)
    asked = [Capability(name, name, view.table.axis_of(name), probes) for name, probes in found.items()]
    frame = comparison_rows(view, asked, known=options.known)
    told = [_told(view, row, found, known=options.known) for row in frame.to_dict("records")]
    same = pd.DataFrame([percent("same", same) for _, same in told], columns=["same", "same_low", "same_high"])
    whole = frame.assign(f1=[f1 for f1, _ in told]).join(same)
    return whole[whole["f1"].notna()].reset_index(drop=True)


def _told(
    view: View, row: Mapping[object, object], found: Mapping[str, tuple[str, ...]], *, known: bool
) -> tuple[float, Interval]:
    """Mean overlap, and share with the same words, of the comparisons of a row; NaN without two captions."""
    probes = found[str(row["family"])]
    both = pairs(view, str(row["evaluator"]), probes, known=known)
    own = dict(corpora(view.table))[str(row["corpus"])]
    words_shared = overlaps(view.table, probes)
    there = ~np.isnan(both.right + both.wrong) & own & ~np.isnan(words_shared)
    values, items = words_shared[there], np.broadcast_to(np.arange(len(own)), there.shape)[there]
    groups = view.table.clusters(items)
    return float(values.mean()) if len(values) else float("nan"), share(values == 1, groups=groups)


@once
def overlaps(table: ScoreTable, probes: tuple[str, ...]) -> np.ndarray:
    """F1 of both captions of every comparison of some probes, float64 [k, N]; NaN where they are one or not told."""
    places = table.places(probes)
    baselines = table.baselines[:, places].max(axis=0)  # every evaluator that scored a pair names the same one
    names = list(map(str, table.probes.index))
    wanted = sorted({*probes, *(names[place] for place in np.unique(baselines[baselines >= 0]))})
    rows = pd.DataFrame() if table.texts is None else table.texts(wanted)
    keys = zip(*(rows.get(name, pd.Series(dtype=object)).tolist() for name in ("corpus", "item", "probe")), strict=True)
    said = dict(zip(keys, rows.get("caption", pd.Series(dtype=object)).tolist(), strict=True))
    items = list(zip(table.items["corpus"], table.items["item"], strict=True))
    found = np.full(baselines.shape, np.nan)
    for probe, place in np.argwhere(baselines >= 0).tolist():
        right, wrong = (said.get((*items[place], names[name])) for name in (baselines[probe, place], places[probe]))
        if isinstance(right, str) and isinstance(wrong, str) and right != wrong:
            found[probe, place] = token_f1(right, wrong, table.scope.language)
    return found
