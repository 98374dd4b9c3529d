"""What the votes say of (item, probe) pairs, in the shapes that scores are joined with."""

from collections.abc import Iterable

import pandas as pd
import pyarrow as pa

from core.human.definition import ORIGINAL, VARIANT
from core.human.kinds import ACCEPTABILITY, kind_of
from core.human.studies import Study
from core.human.votes import COLUMNS, vote_table
from core.store.schema import VERDICTS

PAIR = ["corpus", "item", "probe", "subject"]
ACCEPTABLE = 1
"""Lowest answer that is acceptable: partially correct. Source: PROTOCOL section 6."""


def verdicts(studies: Iterable[Study]) -> pa.Table:
    """How many of those who voted found both versions acceptable, pair by pair.

    Studies of acceptability only: their scale alone says what is acceptable. Attention items and withdrawn
    annotators are left out; the same pair in two studies has the votes of both.

    Returns:
        corpus, item, probe, subject (strings), accepted (share in [0, 1]), votes (int32); one row a pair with at
        least one vote, sorted.
    """
    found = _together(study for study in studies if study.definition.kind == ACCEPTABILITY.name)
    found["accepted"] = (found[ORIGINAL] >= ACCEPTABLE) & (found[VARIANT] >= ACCEPTABLE)
    grouped = found.groupby(PAIR, sort=True)["accepted"]
    table = pd.DataFrame({"accepted": grouped.mean(), "votes": grouped.size()}).reset_index()
    return pa.Table.from_pandas(
        table.astype({"accepted": float, "votes": "int32"}), schema=VERDICTS, preserve_index=False
    )


def ratings(studies: Iterable[Study]) -> pd.DataFrame:
    """Human judgements as H of a calibration: one number an (item, probe) pair.

    An answer on a scale of k levels counts (level - lowest) / (k - 1), so that 0 is the worst and 1 the best answer
    (paper E scales to [0, 1] as well); the rating is the mean over all votes of all studies. The unedited version
    of a pair rates its baseline probe, e.g. ``identity``, or the neutral control of a modified caption.

    Returns:
        corpus, item, probe, subject, rating in [0, 1], votes; one row a pair with at least one vote, sorted.
    """
    parts = [pd.DataFrame(columns=[*PAIR, "share"]).astype({"share": float})]
    for study in studies:
        table = vote_table(study)
        table = table[~table["attention"]]
        for version, probe in ((ORIGINAL, "baseline"), (VARIANT, "probe")):
            rated = table[["corpus", "item", probe, "subject"]].set_axis(PAIR, axis=1)
            kind = study.definition.asked
            share = (table[version] - kind.lowest) / (len(kind.scale) - 1)
            parts.append(rated.assign(share=share).dropna(subset=["share"]))
    grouped = pd.concat([part for part in parts if len(part)] or parts).groupby(PAIR, sort=True)["share"]
    return pd.DataFrame({"rating": grouped.mean(), "votes": grouped.size()}).reset_index()


def _together(studies: Iterable[Study]) -> pd.DataFrame:
    parts = [vote_table(study) for study in studies if kind_of(study.definition.kind).sides == 2]
    parts = [part for part in parts if len(part)]
    if not parts:
        return pd.DataFrame(columns=list(COLUMNS)).astype({ORIGINAL: float, VARIANT: float})
    table = pd.concat(parts, ignore_index=True)
    return table[~table["attention"]].copy()
