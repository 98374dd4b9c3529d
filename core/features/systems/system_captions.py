"""Captions of a leaderboard's systems: their health, which of them evaluators pick, their scores at other scales.

What stands behind a mark of a leaderboard: the pictures of one system, or those on which two neighbours swap.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from core.analysis.effects import bounds
from core.evaluators.towers.encoder import scale_of
from core.features.systems.system_board import own_rows, word_count
from core.probes.words.health import MOST_REPEATED, distinct, ends_hollow, ends_wrongly, is_hollow, repeated
from core.statistics.bootstrap import Interval
from core.statistics.ratios import mean_bca, ratio_bca
from core.statistics.shares import share

CLIP_TOKENS = 77  # tokens that CLIP's text tower reads, both markers included; what is longer is cut off
HEALTH = ("system", "measure", "value", "low", "high", "n_captions", "note")

MEASURES = {
    **{f"rep-{n}": f"Rep-{n}, repeated {n}-grams a caption" for n in range(1, MOST_REPEATED + 1)},
    "distinct-1": "Distinct-1, different words of all words, %",
    "distinct-2": "Distinct-2, different pairs of words, %",
    "wrong-ending": "Wrong endings, %",
    "hollow-ending": "Hollow endings, %",
    "words": "Words a caption",
    "over-77": "Over CLIP's 77 tokens, %",
    "chair-s": "CHAIR_s, captions with an invented object, %",
    "chair-i": "CHAIR_i, invented of named objects, %",
}
"""Measure -> its name for a reader, in order; ``cut EVALUATOR`` follows for evaluators with a tokenizer."""


def health(rows: pd.DataFrame, systems: Sequence[str], *, level: float = 0.95) -> pd.DataFrame:
    """Measure the systems' own captions; HEALTH, a row a system and measure.

    Shares are per cent. Means have BCa intervals and shares Wilson's, over pictures or their sources; distinct-n has
    none, since it falls with the number of captions, which is why all systems are read on the same pictures.
    Objects can be invented only where the instances are known, tokens cut only where there is a tokenizer: a measure
    without a value says why.
    """
    own = own_rows(rows)
    own = own[own["system"].isin(list(systems))]
    first = own.drop_duplicates(["system", "item"])
    counts = first["item"].value_counts()
    shared = set(counts[counts == len(systems)].index)
    told = "" if shared else "no picture has a caption of every system: each on its own"
    records = []
    for system in systems:
        part = first[(first["system"] == system) & (first["item"].isin(shared) if shared else True)]
        for measure, found in _measured(part, level).items():
            records.append((system, measure, *found[:3], len(part), found[3] or told))
        for evaluator, each in own[own["system"] == system].groupby("evaluator", sort=False):
            cut = each[each["item"].isin(set(part["item"]))].dropna(subset=["cut"])
            if len(cut):
                value, low, high, note = _share(cut["cut"].astype(float), cut, level)
                records.append((system, f"cut {evaluator}", value, low, high, len(cut), note or told))
    return pd.DataFrame(records, columns=list(HEALTH))


def wide(table: pd.DataFrame) -> pd.DataFrame:
    """A row a system, a column a measure: the values alone."""
    found = table.pivot_table(
        index="system", columns="measure", values="value", aggfunc="first", dropna=False, sort=False
    )
    return found.reset_index().rename_axis(columns=None)


def told_as(measure: str) -> str:
    """Name of a measure for a reader."""
    return MEASURES.get(measure) or f"Cut by the text tower of {measure.removeprefix('cut ')}, %"


_Found = tuple[float, float, float, str]


def _measured(part: pd.DataFrame, level: float) -> dict[str, _Found]:
    captions = part["caption"].astype(str)
    found = {f"rep-{n}": _mean(captions.map(partial(repeated, n=n)), part, level) for n in range(1, MOST_REPEATED + 1)}
    for n in (1, 2):
        different, every = distinct(captions, n)
        value = 100 * different / every if every else math.nan
        found[f"distinct-{n}"] = (value, math.nan, math.nan, "no interval: it falls with the number of captions")
    found["wrong-ending"] = _share(captions.map(ends_wrongly).astype(float), part, level)
    found["hollow-ending"] = _share(captions.map(ends_hollow).astype(float), part, level)
    found["words"] = _mean(captions.map(word_count), part, level)
    read = part.dropna(subset=["clip_tokens"])
    found["over-77"] = (
        _share((read["clip_tokens"] > CLIP_TOKENS).astype(float), read, level)
        if len(read)
        else (math.nan, math.nan, math.nan, "nobody counted these captions' tokens")
    )
    return found | _chair(part, level)


def _chair(part: pd.DataFrame, level: float) -> dict[str, _Found]:
    known = part.dropna(subset=["named"])
    if known.empty:
        why = "nobody counted the objects that they name; that takes pictures annotated with COCO's categories"
        return dict.fromkeys(("chair-s", "chair-i"), (math.nan, math.nan, math.nan, why))
    found = ratio_bca(known["invented"], known["named"], groups=known["source"], level=level)
    ratio = (*found.numbers(100), found.note)
    return {"chair-s": _share((known["invented"] > 0).astype(float), known, level), "chair-i": ratio}


def _mean(values: pd.Series, part: pd.DataFrame, level: float) -> _Found:
    found = mean_bca(values.astype(float), groups=part["source"], level=level)
    return *found.numbers(), found.note


def _share(values: pd.Series, part: pd.DataFrame, level: float) -> _Found:
    found = share(values, groups=part["source"], level=level)
    return *found.numbers(100), found.note


# Best-of-n: which of an image's captions each evaluator picks, and how many of the picks are hollow.
_COUNTS = ("n_images", "n_captions", "tied")
_HOLLOW = ("picked_hollow", "low", "high", "offered_hollow", *bounds("excess"))
PICKS = ("evaluator", *_HOLLOW, *_COUNTS, "words_picked", "words_offered", "note")
SHARES = ("evaluator", "system", "picked", "low", "high", "offered", "n_images")


def best_of(rows: pd.DataFrame, evaluators: Sequence[str], systems: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Let every evaluator pick the caption with the highest score of each image.

    The captions of an image are those of all systems, further samples included, each text once: a reward that picks
    among n samples does so. Where several tie for the highest, the pick is shared between them. A caption is hollow
    where it ends in a known tail, in its own words again, or breaks off.

    Returns:
        PICKS, a row an evaluator: hollow share of the picks beside that of all captions offered for the same images,
        which a blind pick would have, and the difference with its interval over images; per cent. SHARES: which
        system's captions were picked. Images with fewer than two captions that have a score are left out.
    """
    clean = rows[(rows["probe"] == "") & rows["system"].isin(list(systems))].dropna(subset=["score"])
    marks = {text: is_hollow(text) for text in clean["caption"].unique()}
    lengths = {text: len(text.split()) for text in clean["caption"].unique()}
    picks, shares = [], []
    for evaluator in evaluators:
        offered = _offered(clean[clean["evaluator"] == evaluator])
        offered = offered.assign(hollow=offered["caption"].map(marks).astype(float))
        offered = offered.assign(words=offered["caption"].map(lengths).astype(float))
        picks.append(_pick_row(evaluator, offered))
        shares += _share_rows(evaluator, offered, systems)
    return pd.DataFrame(picks, columns=list(PICKS)), pd.DataFrame(shares, columns=list(SHARES))


def _offered(own: pd.DataFrame) -> pd.DataFrame:
    """Each text of an image once, with the systems that said it and its weight in the pick."""
    said = own.groupby(["item", "caption"], sort=False)
    found = said.agg(
        source=("source", "first"),
        score=("score", "first"),
        systems=("system", lambda each: tuple(dict.fromkeys(each))),
    )
    found = found.reset_index()
    found = found[found.groupby("item")["caption"].transform("size") > 1]
    best = found["score"] == found.groupby("item")["score"].transform("max")
    weight = best / best.groupby(found["item"]).transform("sum")
    return found.assign(weight=weight, offer=1 / found.groupby("item")["caption"].transform("size"))


def _pick_row(evaluator: str, offered: pd.DataFrame) -> tuple[object, ...]:
    by_item = offered.groupby("item", sort=False)
    source = by_item["source"].first()
    picked, blind = (
        (offered["hollow"] * offered[each]).groupby(offered["item"], sort=False).sum() for each in ("weight", "offer")
    )
    own = _shared(picked, source)
    excess = mean_bca((picked - blind).to_numpy(np.float64), groups=source.to_numpy(dtype=str))
    counts = len(source), len(offered), int((by_item["weight"].max() < 1).sum())
    words = [(offered["words"] * offered[each]).groupby(offered["item"]).sum().mean() for each in ("weight", "offer")]
    hollow = 100 * float(blind.mean()) if len(blind) else np.nan
    return evaluator, *own.numbers(100), hollow, *excess.numbers(100), *counts, *map(float, words), own.note


def _share_rows(evaluator: str, offered: pd.DataFrame, systems: Sequence[str]) -> list[tuple[object, ...]]:
    """A text that several systems said is shared between them."""
    source = offered.groupby("item", sort=False)["source"].first()
    records: list[tuple[object, ...]] = []
    for system in systems:
        part = offered["systems"].map(lambda names, system=system: (system in names) / len(names))
        picked, offer = (
            (part * offered[each]).groupby(offered["item"], sort=False).sum() for each in ("weight", "offer")
        )
        found = _shared(picked, source)
        records.append((evaluator, system, *found.numbers(100), 100 * float(offer.mean()), len(source)))
    return records


def _shared(shares: pd.Series, source: pd.Series) -> Interval:
    """Mean of shares in [0, 1] with Wilson's interval over sources: none picked is no certain zero."""
    return share(np.clip(shares.to_numpy(np.float64), 0, 1), groups=source.to_numpy(dtype=str))


# Scores of a leaderboard under other scales w of the cosine: what paper C's figure 5 shows.
#
# Where score = w · max(cos, 0), the score at another scale v is score · v / w: no model has to be asked again.
#
# Sources:
#     [1] Sarto et al. (2025). Positive-augmented contrastive learning for vision-and-language evaluation and training.
#         IJCV. Eq. 4, section 5.7, figure 5.
#     [2] Hessel et al. (2021). CLIPScore. EMNLP. Section 3.
PUBLISHED: Mapping[float, str] = {
    1.0: "the cosine itself",
    2.0: "PAC-S, and the authors' code of PAC-S++",
    2.5: "CLIPScore, and PAC-S++ on ViT-B/32 as its text has it",
    3.0: "PAC-S++ on ViT-L/14 as its text has it",
}
"""Scales that [1], its code and [2] use, and for what."""

WIDTH = 0.05  # of a bin of scores, at every scale
ENDS = (5, 50, 95)  # percentiles

_SPREAD = ("mean", "low", "high", "p5", "p50", "p95")
SCALES = ("evaluator", "w", "used", *_SPREAD, *bounds("over"), "n_captions", "n_items", "note")
BINS = ("evaluator", "w", "middle", "from_", "to", "share", "n_captions", "n_items")


def scales(
    rows: pd.DataFrame, evaluators: Sequence[str], systems: Sequence[str], *, level: float = 0.95
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Hold the scores of all systems' captions on unedited pictures at every scale of PUBLISHED, and their own.

    Evaluators whose score is not w · max(cos, 0) are passed over.

    Returns:
        SCALES, a row an evaluator and scale: mean with its BCa interval over pictures, percentiles, and the share of
        scores above 1 with Wilson's, in per cent. BINS: per cent of the captions by bins of WIDTH, for the scales
        whose row has numbers. Scores outside [0, w] were made with another scale: no number, and a note.
    """
    records, bins = list[tuple[object, ...]](), list[tuple[object, ...]]()
    for evaluator in evaluators:
        own = scale_of(evaluator)
        if own is None:
            continue
        held = own_rows(rows)
        held = held[(held["evaluator"] == evaluator) & held["system"].isin(list(systems))].dropna(subset=["score"])
        if held.empty:
            continue
        scores = held["score"].to_numpy(np.float64)
        if scores.min() < 0 or scores.max() > own * (1 + 1e-6):
            note = f"scores of {scores.min():.4g} to {scores.max():.4g} were not made with w = {own:g}"
            records.append((evaluator, own, "here", *[math.nan] * 9, len(held), held["item"].nunique(), note))
            continue
        for w in sorted({*PUBLISHED, own}):
            records.append(_row(evaluator, w, own, held.assign(score=scores * (w / own)), level))
            bins += _bins(evaluator, w, scores * (w / own), held["item"].nunique())
    return pd.DataFrame(records, columns=list(SCALES)), pd.DataFrame(bins, columns=list(BINS))


def _row(evaluator: str, w: float, own: float, held: pd.DataFrame, level: float) -> tuple[object, ...]:
    mean = mean_bca(held["score"], groups=held["source"], level=level)
    over = share((held["score"] > 1).astype(float), groups=held["source"], level=level)
    used = [*(["here"] if w == own else []), *([PUBLISHED[w]] if w in PUBLISHED else [])]
    spread = (*mean.numbers(), *(float(each) for each in np.percentile(held["score"], ENDS)), *over.numbers(100))
    return evaluator, w, "; ".join(used), *spread, len(held), held["item"].nunique(), mean.note or over.note


def _bins(evaluator: str, w: float, scores: np.ndarray, items: int) -> list[tuple[object, ...]]:
    """Shares by bin, with an empty bin on either side, so that a line through them ends at nothing."""
    first, last = math.floor(scores.min() / WIDTH), math.floor(scores.max() / WIDTH)
    places = np.floor(scores / WIDTH).astype(int)
    found = list[tuple[object, ...]]()
    for place in range(max(first - 1, 0), last + 2):
        ends = (place + 0.5) * WIDTH, place * WIDTH, (place + 1) * WIDTH
        found.append((evaluator, w, *ends, 100 * float((places == place).mean()), len(scores), items))
    return found


_SIDES = ("a_caption", "b_caption", "a_before", "b_before", "a_after", "b_after")
SWAPPED = ("item", "probe", *_SIDES, "gap_before", "gap_after")


def lowest(rows: pd.DataFrame, evaluator: str, system: str) -> pd.DataFrame:
    """Captions of a system on unedited pictures with an evaluator's scores, the lowest first: item, caption, score."""
    own = own_rows(rows)
    own = own[(own["evaluator"] == evaluator) & (own["system"] == system)].dropna(subset=["score"])
    ordered = own.sort_values(["score", "item"], kind="stable", ignore_index=True)
    return ordered[["item", "caption", "score"]]


def swapped(rows: pd.DataFrame, evaluator: str, higher: str, lower: str, family: str) -> pd.DataFrame:
    """SWAPPED: pictures on which the captions of two systems, a the higher and b the lower one, change order under an
    edit of a family, the largest change first. Gaps are a minus b; a tie on either side is no change of order."""
    own = rows[(rows["place"] == 0) & (rows["evaluator"] == evaluator) & rows["system"].isin([higher, lower])]
    edited = own[own["family"] == family]
    sides = {}
    for side, system in (("a", higher), ("b", lower)):
        clean = own[(own["probe"] == "") & (own["system"] == system)].set_index("item")
        after = edited[edited["system"] == system].set_index(["item", "probe"])["score"]
        items = after.index.get_level_values("item")
        sides[side] = pd.DataFrame(
            {
                f"{side}_caption": clean["caption"].reindex(items).to_numpy(),
                f"{side}_before": clean["score"].reindex(items).to_numpy(),
                f"{side}_after": after.to_numpy(),
            },
            index=after.index,
        )
    both = sides["a"].join(sides["b"], how="inner").reset_index()
    both["gap_before"], both["gap_after"] = both["a_before"] - both["b_before"], both["a_after"] - both["b_after"]
    found: pd.DataFrame = both[np.sign(both["gap_before"]) * np.sign(both["gap_after"]) < 0]
    change = (found["gap_after"] - found["gap_before"]).abs()
    found = found.assign(change=change).sort_values(["change", "item"], ascending=[False, True], kind="stable")
    return found[list(SWAPPED)].reset_index(drop=True)
