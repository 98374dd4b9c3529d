"""Captions that people wrote with a social word, their neutral rewrite and the contrasting word: what is compared."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from core.analysis.memo import once
from core.analysis.table import CAPTIONS, ScoreTable, View
from core.probes.words.natural_captions import NEUTRALISED, SWAPPED, families_of, read_name
from core.probes.words.screening import families


@dataclass(frozen=True, slots=True)
class NaturalFamily:
    """The natural probes of one family of words as one tagger reads captions.

    Args:
        name: of the probes' family, e.g. ``natural-economic-spacy``.
        owner: family of the lexicon.
        tagger: that chose the captions.
        neutral: probe of the neutral rewrite.
        written: word -> probe of the captions that say it.
        swapped: word -> probe of the captions into which it was put for its contrast.
    """

    name: str
    owner: str
    tagger: str
    neutral: str
    written: dict[str, str] = field(hash=False)
    swapped: dict[str, str] = field(hash=False)


def natural_families(table: ScoreTable) -> tuple[NaturalFamily, ...]:
    """Families with a caption as it was written or swapped; by tagger, then in the lexicon's order."""
    found = []
    for name, (owner, reader) in families_of().items():
        read = {
            probe: told
            for probe in map(str, table.probes.index[table.probes["family"] == name])
            if (told := read_name(probe)) is not None
        }
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
    """The captions of a family, one a row: place (of the item), corpus, word (as written), caption, counted.

    A caption is counted where no earlier item, of any corpus of the table, has the same one: the same words in the same
    order, whatever their case, their blanks and the signs at the end. Source: paper A, A.12, duplicates removed.
    """
    told = table.about.get(CAPTIONS, pd.DataFrame(columns=["corpus", "item", "probe", "caption"]))
    probes = {probe: (word, 0) for word, probe in family.written.items()}
    probes |= dict.fromkeys(family.swapped.values(), ("", 1))  # the text stands in where no other row is here
    rows = told[told["probe"].isin(list(probes))]
    names = pd.MultiIndex.from_frame(table.items[["corpus", "item"]].astype(object))
    place = names.get_indexer(pd.MultiIndex.from_frame(rows[["corpus", "item"]].astype(object)))
    rows = rows.assign(
        place=place, word=[probes[each][0] for each in rows["probe"]], later=[probes[each][1] for each in rows["probe"]]
    )
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


@dataclass(frozen=True, slots=True, eq=False)
class Triple:
    """The three scores of the captions that say one of two contrasting words.

    Args:
        first, second: the words, in the lexicon's order.
        scores: name -> score of every item, float64 [N], NaN where it has none; ``first``, ``neutral``, ``second``.
    """

    first: str
    second: str
    scores: dict[str, np.ndarray]


NEUTRAL = "neutral"


def triples(view: View, family: NaturalFamily, evaluator: str) -> Iterator[Triple]:
    """The scores of each pair of contrasting words of a family, whichever of the two was written.

    Two words are a pair where the lexicon names one as the contrast of the other.
    """
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
                yield Triple(first, second, {first: sides[0], NEUTRAL: neutral, second: sides[1]})


def _scores(view: View, evaluator: str, probe: str) -> np.ndarray:
    if not view.probes((probe,)):
        return np.full(len(view.table.items), np.nan)
    return np.asarray(view.after(evaluator, (probe,))[0])


SECTION, CAPTION, ORDER = "natural", "captions", "order of the three"
