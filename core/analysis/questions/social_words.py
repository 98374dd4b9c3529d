"""Captions that people wrote with a social word: the word neutralised, swapped, and the order of the three scores."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from core.analysis.effects import ALL, CELL, Group, corpora, effects
from core.analysis.lacks import Lack, left_out, no_family
from core.analysis.questions.columns import (
    CORPUS,
    COUNT,
    HEAD,
    PERCENT,
    SHIFTS,
    TESTS,
    TIED_SHARE,
    TIES,
    Dots,
    by_value,
    how,
    power,
)
from core.analysis.questions.question import Column, Drawing, Options, Question
from core.analysis.scores import once
from core.analysis.table import CAPTIONS, ScoreTable, View
from core.analysis.verdicts import untold
from core.charts.spec import Figure, Reference
from core.probes.words.natural_captions import NEUTRALISED, PREFIX, SWAPPED, families_of, read_name
from core.probes.words.screening import families
from core.statistics.bootstrap import LEAST_N, Interval, few
from core.statistics.comparisons import TIED, orders, pairwise_orders


@dataclass(frozen=True, slots=True)
class NaturalFamily:
    """The natural probes of one family of words as one tagger reads captions."""

    name: str  # of the probes' family, e.g. ``natural-economic-spacy``.
    owner: str  # family of the lexicon
    tagger: str  # that chose the captions
    neutral: str  # probe of the neutral rewrite
    written: dict[str, str] = field(hash=False)  # word -> probe of the captions that say it
    swapped: dict[str, str] = field(hash=False)  # word -> probe of the captions into which it was put for its contrast


def natural_families(table: ScoreTable) -> tuple[NaturalFamily, ...]:
    """Families with a caption as it was written or swapped; by tagger, then in the lexicon's order."""
    found = []
    for name, (owner, reader) in families_of().items():
        probes = map(str, table.probes.index[table.probes["family"] == name])
        read = {probe: told for probe in probes if (told := read_name(probe)) is not None}
        written, swapped = (
            {told.word: probe for probe, told in read.items() if told.rewrite == rewrite} for rewrite in ("", SWAPPED)
        )
        if written or swapped:
            order = [word.word for word in families()[owner].words]
            written, swapped = ({word: each[word] for word in order if word in each} for each in (written, swapped))
            found.append(NaturalFamily(name, owner, reader, f"{name}:{NEUTRALISED}", written, swapped))
    return tuple(found)


@once
def captions(table: ScoreTable, family: NaturalFamily) -> pd.DataFrame:
    """The captions of a family, one a row: place (of the item), corpus, word (as written), caption, counted. A caption
    is counted where no earlier item, of any corpus of the table, has the same one: the same words in the same order,
    whatever their case, their blanks and the signs at the end. Source: paper A, A.12, duplicates removed."""
    told = table.about.get(CAPTIONS, pd.DataFrame(columns=["corpus", "item", "probe", "caption"]))
    probes = {probe: (word, 0) for word, probe in family.written.items()}
    probes |= dict.fromkeys(family.swapped.values(), ("", 1))  # the text stands in where no other row is here
    rows = told[told["probe"].isin(list(probes))]
    known, named = (pd.MultiIndex.from_frame(each[["corpus", "item"]].astype(object)) for each in (table.items, rows))
    words, later = ([probes[each][place] for each in rows["probe"]] for place in (0, 1))
    rows = rows.assign(place=known.get_indexer(named), word=words, later=later)
    rows = rows[rows["place"] >= 0].sort_values(["place", "later"], kind="stable").drop_duplicates("place")
    same = rows["caption"].map(_same).duplicated()
    return rows.assign(counted=~same)[["place", "corpus", "word", "caption", "counted"]].reset_index(drop=True)


def counted(table: ScoreTable, family: NaturalFamily) -> np.ndarray:
    """Items whose caption of a family counts, bool [N]; see :func:`captions`."""
    rows, found = captions(table, family), np.zeros(len(table.items), dtype=bool)
    found[rows.loc[rows["counted"], "place"].to_numpy(int)] = True
    return found


def _same(caption: str) -> str:
    return " ".join(str(caption).casefold().split()).rstrip(" .,;:!?\"'")


Triple = dict[str, np.ndarray]
"""The three scores of the captions that say one of two contrasting words, in the lexicon's order: the first, NEUTRAL,
the second -> score of every item, float64 [N], NaN where it has none."""


NEUTRAL = "neutral"


def triples(view: View, family: NaturalFamily, evaluator: str) -> Iterator[Triple]:
    """The scores of each pair of contrasting words of a family, whichever of the two was written. Two words are a pair
    where the lexicon names one as the contrast of the other."""
    words = {word.word: word for word in families()[family.owner].modifiers}
    neutral, order = _scores(view, evaluator, family.neutral), list(words)
    for place, first in enumerate(order):
        for second in order[place + 1 :]:
            sides = np.full((2, len(neutral)), np.nan)
            for said, other, at in ((first, second, 0), (second, first, 1)):
                if words[said].contrast == other:
                    own = _scores(view, evaluator, family.written.get(said, ""))
                    put = _scores(view, evaluator, family.swapped.get(other, ""))
                    here = ~np.isnan(own) & ~np.isnan(put)
                    sides[at, here], sides[1 - at, here] = own[here], put[here]
            if (~np.isnan(sides)).any():
                yield {first: sides[0], NEUTRAL: neutral, second: sides[1]}


def _scores(view: View, evaluator: str, probe: str) -> np.ndarray:
    if not view.probes((probe,)):
        return np.full(len(view.table.items), np.nan)
    return np.asarray(view.after(evaluator, (probe,))[0])


SECTION, CAPTION, ORDER = "natural", "captions", "order of the three"
EVERY = "every word"
WRITTEN, SWAPPED_IN, EITHER = "as written", "swapped in", "either way"  # Forms in which a caption says a word

ABOVE, BELOW, UNTOLD = "more often than by chance", "less often than by chance", "cannot be distinguished from chance"

_FAMILY, _TAGGER = Column("family", "Family", kind="text"), Column("tagger", "Captions read by", kind="text")
_PAIR, _BESIDE = Column("pair", "Words", kind="text"), Column("beside", "Beside chance", kind="text")
_UNTOLD = power("The distance from chance that these captions find")
_SHARE = Column("share", "Share, % [95 % CI]", digits=1, low="low", high="high")
_WHICH = (
    "A caption by people counts where a word of the lexicon modifies an object in it; the neutral rewrite puts the "
    "neutral word of the closest length in its place, the swap its contrast, all else but a preceding article stays. "
    "The rules, the default, read which word modifies what; spaCy, where it was asked for, takes clear captions of one "
    "object alone. A caption that stands twice, in one corpus or in several, counts once, in the first corpus by name; "
    "“all” takes the corpora together."
)
_OF = (*CELL, "family", "tagger", "pair")
_COUNTED = ("n", "n_items", "share", "low", "high")
_ORDERS = (*_OF, "order", *_COUNTED, "chance", "beside", "power")
_PAIRS = (*_OF, "above", "below", *_COUNTED, *TIED_SHARE, "chance", "beside", "power")
_COMMAND = (
    "python -m core audit --corpus coco --root path/to/coco --option slice=all --evaluators conse-lite0 --probes "
    "natural-cultural,natural-economic,natural-gender,natural-emotion"
)


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """How many captions there are, what each word does, and the order of the three scores of a caption."""
    return _counts(), _shifts(), _orders(), _pairwise()


def lacking(table: ScoreTable) -> str:
    """Why there is no caption; empty where there is one."""
    if natural_families(table):
        return ""
    outside = left_out(table, "family", list(families_of()))
    if len(outside):
        return no_family(table, str(outside["family"].iloc[0]), what="captions that people wrote with a social word")
    rejected = table.about.get("rejections", pd.DataFrame(columns=["probe"]))
    if rejected["probe"].astype(str).str.startswith(PREFIX).any():
        return Lack(
            "natural captions were asked for, and no caption of these runs has a social word that modifies an object",
            "such captions are rare, so a large corpus is needed",
            command=_COMMAND,
        )
    return Lack(
        "no run has captions that people wrote with a social word in them",
        "they are rare and the demo corpus has none, so a large corpus such as a whole split of COCO is needed",
        command=_COMMAND,
    )


def _counts() -> Question:
    label, found = Column("label", "Written word", kind="text"), Column("found", "Captions", digits=0)
    twice, n_items = Column("twice", "Duplicates", digits=0), Column("n_items", "n counted", digits=0)
    columns = (CORPUS, _FAMILY, _TAGGER, label, found, twice, n_items)

    def compute(view: View, options: Options) -> pd.DataFrame:
        rows = [row for family in _kept(view) for row in _counted_rows(view, family)]
        return pd.DataFrame(rows, columns=["corpus", "family", "tagger", "label", "found", "twice", "n_items"])

    note = (
        f"{_WHICH} An item gives one caption to a family, its first that fits. The paper has 412 cultural, 196 "
        "economic and 124 gender and emotion captions of MS-COCO and three suites."
    )
    title = "Natural captions: how many there are"
    return Question("S32", title, SECTION, CAPTION, note, columns, compute, lacking, paper="A.12")


def _kept(view: View) -> list[NaturalFamily]:
    found = natural_families(view.table)
    return [each for each in found if view.probes((*each.written.values(), *each.swapped.values()))]


def _counted_rows(view: View, family: NaturalFamily) -> Iterator[dict[str, object]]:
    rows = captions(view.table, family)
    rows = rows[view.items[rows["place"].to_numpy(int)]]
    for corpus, own in corpora(view.table, pooled=True):
        here = rows[own[rows["place"].to_numpy(int)]]
        for label in (EVERY, *(word for word in family.written if (here["word"] == word).any())):
            said = here if label == EVERY else here[here["word"] == label]
            if len(said):
                n = int(said["counted"].sum())
                of = {"corpus": corpus, "family": family.owner, "tagger": family.tagger, "label": label}
                yield of | {"found": len(said), "twice": len(said) - n, "n_items": n}


def _of_all(dots: Dots, column: str, value: str, drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    """The corpora together, of one form or the leading order."""
    rows = frame[frame[column] == value]
    together = rows[rows["corpus"] == ALL]
    return dots(drawing, together if len(together) else rows, measure)


def _leading(dots: Dots, drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    """The leading order beside the share that chance gives one without ties; a mark of too few is drawn open."""
    figure = _of_all(dots, "leads", "yes", drawing, frame.assign(drift=frame["beside"]), measure)
    return replace(figure, unit=" %", span=(0.0, 100.0), references=(Reference(100 / 6, dash="dash"),))


def _shifts() -> Question:
    tests = "the words of the family in the same form"
    label, form = Column("label", "Word", kind="text"), Column("form", "In the caption", kind="text")
    columns = (*HEAD, _FAMILY, _TAGGER, label, form, COUNT, PERCENT, *TESTS)

    def compute(view: View, options: Options) -> pd.DataFrame:
        parts = [part for family in _kept(view) for part in _forms(view, family, options.margin) if len(part)]
        empty = effects(view, []).assign(family="", tagger="", form="")
        return pd.concat(parts, ignore_index=True) if parts else empty

    read = (
        "Median shift from the caption with a neutral word, with its 95 % BCa interval; the word as it was written and "
        "swapped in taken together, of all corpora in view."
    )
    make = partial(_of_all, Dots(panel=("family", "tagger"), order=by_value), "form", EITHER)
    drawing = Drawing("F-natural", "Words in captions that people wrote", read, make, "A.12")
    note = (
        f"{how(tests)} {_WHICH} The baseline of every row is the neutral rewrite of the same caption. As written: the "
        "captions that say the word. Swapped in: those that say its contrast, with the word in its place. Swapped "
        "words may contradict the picture: their shift is a contrast with the neutral rewrite and no proof of a "
        "bias by itself."
    )
    title = "Natural captions: how much a word changes the score from the neutral rewrite"
    return Question("S33", title, SECTION, CAPTION, note, columns, compute, lacking, (drawing,), "A.12", tests, SHIFTS)


def _forms(view: View, family: NaturalFamily, margin: float) -> Iterator[pd.DataFrame]:
    words = dict.fromkeys([*family.written, *family.swapped])
    sides = {WRITTEN: (family.written,), SWAPPED_IN: (family.swapped,), EITHER: (family.written, family.swapped)}
    for form, held in sides.items():
        every = {word: tuple(each[word] for each in held if word in each) for word in words}
        said, tests = {word: view.probes(probes) for word, probes in every.items()}, f"{family.name}, {form}"
        groups = [Group(word, said[word] or every[word], tests=tests, shown=bool(said[word])) for word in words]
        if form != EITHER:  # either way, every caption has both of its words: none is left to tell
            whole = tuple(probe for probes in said.values() for probe in probes)
            groups.insert(0, Group(EVERY, whole, tests=f"{tests}, {EVERY}"))
        found = effects(view, groups, keep=counted(view.table, family), pooled=True, margin=margin)
        yield found.assign(family=family.owner, tagger=family.tagger, form=form)


def _of_triples(view: View) -> Iterator[tuple[dict[str, object], Triple, np.ndarray]]:
    """What a row is of, the three scores, and the items."""
    for evaluator, family in product(view.evaluators, _kept(view)):
        count = counted(view.table, family) & view.items
        for triple, (corpus, own) in product(triples(view, family, evaluator), corpora(view.table, pooled=True)):
            first, _, second = triple
            of = (evaluator, corpus, family.owner, family.tagger, f"{first}, {second}")
            yield dict(zip(_OF, of, strict=True)), triple, own & count


def _order_scores(view: View, triple: Triple, items: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
    return {name: each[items] for name, each in triple.items()}, view.table.sources_of(items)


def _orders() -> Question:
    order, n = Column("order", "Order, highest first", kind="text"), Column("n", "n in it", digits=0)
    sixth = "A sixth of the captions without a tie: what each order would have if the three scores could change places"
    chance = Column("chance", "By chance, %", digits=1, help=sixth)
    columns = (*HEAD, _FAMILY, _TAGGER, _PAIR, order, n, COUNT, _SHARE, chance, _BESIDE, _UNTOLD)

    def compute(view: View, options: Options) -> pd.DataFrame:
        rows = [row for said, triple, items in _of_triples(view) for row in _order_rows(view, said, triple, items)]
        return pd.DataFrame(rows, columns=[*_ORDERS, "leads"])

    dots = Dots("order", panel=("family", "tagger"), values=("share", "low", "high"), axis="share of the captions")
    drawing = Drawing(
        "F-natural-order",
        "Does the first word score above neutral, and neutral above the second?",
        "Share of the captions whose three scores stand in this order, with Wilson’s interval, of all corpora in view. "
        "The broken line, 16.7 %, is what chance gives where no two scores are equal; an open mark is of too few.",
        partial(_leading, dots),
        "A.12",
    )
    note = (
        f"{_WHICH} Within each caption: the scores of its two contrasting words, whichever of them was written, and of "
        "the neutral rewrite. Shares of the captions that have all three, with Wilson’s interval, captions of one "
        "source together. If the three scores could change places, each of the six orders would have a sixth, 16.7 %, "
        f"less what is tied; a caption two of whose scores are equal is {TIED}. Orders that no caption has are left "
        f"out, but for the first of each pair. Below {LEAST_N} captions or sources nothing is said beside chance."
    )
    title = "Natural captions: the order of the three scores, e.g. cheap > neutral > expensive"
    return Question("S34", title, SECTION, ORDER, note, columns, compute, lacking, (drawing,), "A.12")


def _order_rows(view: View, said: dict[str, object], triple: Triple, items: np.ndarray) -> Iterator[dict[str, object]]:
    scores, sources = _order_scores(view, triple, items)
    found = orders(scores, sources=sources)
    if not found["n_items"].iloc[0]:
        return
    leading = " > ".join(triple)
    chance = 100 * (1 - float(found.loc[found["order"] == TIED, "share"].iloc[0])) / 6
    found = found.sort_values("order", key=lambda names: names != leading, kind="stable")
    for row in found.to_dict("records"):
        if row["n"] or row["order"] == leading:
            shares = {name: 100 * row[name] for name in ("share", "low", "high")}
            tied = row["order"] == TIED
            counts = {name: row[name] for name in ("order", "n", "n_items")}
            leads = {"chance": np.nan if tied else chance, "leads": "yes" if row["order"] == leading else ""}
            beside = _beside(shares, chance, row["n_items"], row["n_sources"])
            yield {**said, **counts, **shares, **leads, **(dict.fromkeys(beside, "") if tied else beside)}


def _beside(shares: dict[str, float], chance: float, n: int, sources: int) -> dict[str, str]:
    """What a share allows to say beside chance, and what it could have told where it does not."""
    if said := few(n, sources):
        return {"beside": said, "power": ""}
    if shares["low"] > chance or shares["high"] < chance:
        return {"beside": ABOVE if shares["low"] > chance else BELOW, "power": ""}
    found = Interval(shares["share"], shares["low"], shares["high"], n, 0.95)
    return {"beside": UNTOLD, "power": untold(found, unit="points")}


def _pairwise() -> Question:
    above, below = Column("above", "This", kind="text"), Column("below", "above this", kind="text")
    n, half = Column("n", "n above", digits=0), "Half of the captions without a tie"
    chance = Column("chance", "By chance, %", digits=1, help=half)
    columns = (*HEAD, _FAMILY, _TAGGER, _PAIR, above, below, n, COUNT, _SHARE, TIES, chance, _BESIDE, _UNTOLD)

    def compute(view: View, options: Options) -> pd.DataFrame:
        rows = [row for said, triple, items in _of_triples(view) for row in _pair_rows(view, said, triple, items)]
        return pd.DataFrame(rows, columns=list(_PAIRS))

    note = (
        f"{_WHICH} The three comparisons inside the order of each caption, with Wilson’s interval, captions of one "
        f"source together. Chance gives half of what is not tied. Below {LEAST_N} captions or sources nothing is "
        "said beside chance."
    )
    title = "Natural captions: which of two words scores higher"
    return Question("S35", title, SECTION, ORDER, note, columns, compute, lacking, paper="A.12")


def _pair_rows(view: View, said: dict[str, object], triple: Triple, items: np.ndarray) -> Iterator[dict[str, object]]:
    scores, sources = _order_scores(view, triple, items)
    names = list(scores)
    for row in pairwise_orders(scores, sources=sources).to_dict("records"):
        if row["n_items"] and names.index(row["above"]) < names.index(row["below"]):
            shares = {name: 100 * row[name] for name in ("share", "low", "high", *TIED_SHARE)}
            chance = (100 - shares["ties"]) / 2
            counts = {name: row[name] for name in ("above", "below", "n", "n_items")}
            beside = _beside(shares, chance, row["n_items"], row["n_sources"])
            yield {**said, **counts, **shares, "chance": chance, **beside}
