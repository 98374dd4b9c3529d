"""Best-of-n: which of an image's captions each evaluator picks, and how many of the picks are hollow."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from core.probes.words.health import ends_hollow, ends_wrongly
from core.statistics.bootstrap import Interval
from core.statistics.ratios import mean_bca
from core.statistics.shares import share

PICKS = (
    "evaluator", "picked_hollow", "low", "high", "offered_hollow", "excess", "excess_low", "excess_high", "n_images",
    "n_captions", "tied", "words_picked", "words_offered", "note",
)  # fmt: skip
SHARES = ("evaluator", "system", "picked", "low", "high", "offered", "n_images")


def best_of(rows: pd.DataFrame, evaluators: Sequence[str], systems: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Let every evaluator pick the caption with the highest score of each image.

    The captions of an image are those of all systems, further samples included, each text once: a reward that picks
    among n samples does so. Where several tie for the highest, the pick is shared between them. A caption is hollow
    where it ends in a known tail, in its own words again, or breaks off.

    Args:
        rows: of :data:`core.scoring.leaderboard.COLUMNS`.
        evaluators: that pick.
        systems: whose captions are offered.

    Returns:
        PICKS, a row an evaluator: hollow share of the picks beside that of all captions offered for the same images,
        which a blind pick would have, and the difference with its interval over images; per cent. SHARES: which
        system's captions were picked. Images with fewer than two captions that have a score are left out.
    """
    clean = rows[(rows["probe"] == "") & rows["system"].isin(list(systems))].dropna(subset=["score"])
    marks = {text: ends_hollow(text) or ends_wrongly(text) for text in clean["caption"].unique()}
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
    own, excess = _percent(picked, source), _excess(picked - blind, source)
    tied = int((by_item["weight"].max() < 1).sum())
    words = [(offered["words"] * offered[each]).groupby(offered["item"]).sum().mean() for each in ("weight", "offer")]
    return (
        evaluator, own.estimate, own.low, own.high, 100 * float(blind.mean()) if len(blind) else np.nan,
        excess.estimate, excess.low, excess.high, len(source), len(offered), tied, *map(float, words), own.note,
    )  # fmt: skip


def _share_rows(evaluator: str, offered: pd.DataFrame, systems: Sequence[str]) -> list[tuple[object, ...]]:
    """A text that several systems said is shared between them."""
    source = offered.groupby("item", sort=False)["source"].first()
    records: list[tuple[object, ...]] = []
    for system in systems:
        part = offered["systems"].map(partial(_part, system=system))
        picked, offer = (
            (part * offered[each]).groupby(offered["item"], sort=False).sum() for each in ("weight", "offer")
        )
        found = _percent(picked, source)
        records.append(
            (evaluator, system, found.estimate, found.low, found.high, 100 * float(offer.mean()), len(source))
        )
    return records


def _part(names: tuple[str, ...], *, system: str) -> float:
    """Share of a text that is a system's, of several that said it."""
    return (system in names) / len(names)


def _percent(shares: pd.Series, source: pd.Series) -> Interval:
    """Mean of shares in [0, 1] with Wilson's interval over sources, in per cent: none picked is no certain zero."""
    return _hundredfold(share(np.clip(shares.to_numpy(np.float64), 0, 1), groups=source.to_numpy(dtype=str)))


def _excess(differences: pd.Series, source: pd.Series) -> Interval:
    return _hundredfold(mean_bca(differences.to_numpy(np.float64), groups=source.to_numpy(dtype=str)))


def _hundredfold(found: Interval) -> Interval:
    return replace(found, estimate=100 * found.estimate, low=100 * found.low, high=100 * found.high)
