"""What a report holds of leaderboards that are kept: paper C's table of systems, caption health, scales of a score."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from core.analysis.questions.base import Column
from core.analysis.questions.papers import ELSEWHERE
from core.analysis.systems.board import board, rank_range, systems_of
from core.analysis.systems.captions import health, scales, told_as
from core.analysis.systems.file import Kept, Leaderboard
from core.charts.scales import scale_shares
from core.charts.spec import Figure
from core.errors import InvariscopeError
from core.report.model import Missing, Table
from core.scoring.board_references import RANKED

SYSTEMS, HEALTH, SCALES = "C13", "C14", "C15"
DIFFERENCES, LEVELS = f"{SYSTEMS}-differences", f"{SCALES}-scales"

_BOARD, _SYSTEM = Column("leaderboard", "Leaderboard", kind="text"), Column("system", "System", kind="text")
_EVALUATOR, _N = Column("evaluator", "Evaluator", kind="text"), Column("n_items", "n pictures", digits=0)
_REMARK = Column("note", "Remark", kind="text")
_SYSTEMS = (
    _BOARD, _EVALUATOR, Column("rank", "Rank", digits=0), _SYSTEM,
    Column("rank_interval", "Rank interval", kind="text"),
    Column("sure_ranks", "Sure ranks", kind="text"), Column("mean", "Mean [95 % CI]", digits=4, low="low", high="high"),
    Column("first_percent", "First, %", digits=1), _N, Column("own_mean", "Own mean", digits=4),
    Column("own_n", "Own n", digits=0), _REMARK,
)  # fmt: skip
_HEALTH = (
    _BOARD, _SYSTEM, Column("told", "Measure", kind="text"), Column("value", "Value [95 % CI]", low="low", high="high"),
    Column("n_captions", "n captions", digits=0), _REMARK,
)  # fmt: skip
_LEVELS = (
    _BOARD, _EVALUATOR, Column("w", "w", digits=2), Column("used", "Used by", kind="text"),
    Column("mean", "Mean [95 % CI]", digits=4, low="low", high="high"), Column("p5", "5th percentile", digits=4),
    Column("p50", "Median", digits=4), Column("p95", "95th percentile", digits=4),
    Column("over", "Above 1, % [95 % CI]", digits=1, low="over_low", high="over_high"),
    Column("n_captions", "n captions", digits=0), _N, _REMARK,
)  # fmt: skip

_SYSTEMS_NOTE = (
    "Captioners by their mean score on the pictures that all systems of the leaderboard have a score of (n pictures); "
    "the own mean is over all pictures of the system itself and ranks nobody. BCa intervals over pictures. The rank "
    "interval holds the middle 95 % of the ranks in bootstrap samples of pictures; sure ranks count only differences "
    "that are sure after Holm's correction over the pairs of one evaluator that differ at all; first is the share of "
    "samples in which nobody is above. The pairwise differences are in the data."
)
_HEALTH_NOTE = (
    "Of the systems' own captions, on the pictures that all systems of the leaderboard caption. Means have BCa "
    "intervals, shares Wilson's, over pictures. Measures that cannot be had say why in the data."
)
_SCALES_NOTE = (
    "Scores of all systems' captions on unedited pictures as they would be at other scales w, for evaluators whose "
    "score is w · max(cos, 0): score · v / w at a scale v. Another scale moves means and differences and no rank. "
    "“here”: the scale of the evaluator in Invariscope. Intervals over pictures: BCa of means, Wilson's of "
    "shares."
)
_SHARES_NOTE = "Bins of 0.05 at every scale; the dotted line stands at 1. The numbers are in C15-scales."


@dataclass(slots=True)
class Boards:
    """Tables and figures of leaderboards, and what could not be given.

    Args:
        tables: to be shown.
        details: as data only.
        figures: of these tables.
        missing: with their reasons; empty where nothing is kept.
    """

    tables: list[Table] = field(default_factory=list)
    details: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)


def board_tables(found: Kept, evaluators: Collection[str], prints: Mapping[str, Collection[str]]) -> Boards:
    """Every table that kept leaderboards of these evaluators allow, with the numbers of the page Systems.

    ROUGE-L and CIDEr-D stand beside them where one of them ranks the same systems. All systems of a leaderboard are
    compared, at 95 %.

    Args:
        found: what is kept.
        evaluators: of the report.
        prints: fingerprints of each in its runs; a leaderboard that was scored with another is told in the note.
    """
    made, frames = Boards(), dict[str, list[pd.DataFrame]]()
    left_out = [f"{name}: the file cannot be read" for name in found.unread]
    remarks = []
    for each in found.boards:
        names = [name for name in each.evaluators if name in evaluators]
        if not names:
            continue
        try:
            parts = _parts(each, names)
        except InvariscopeError as error:
            left_out.append(f"{each.name}: {error}")
            continue
        remarks.append(_of(each, names, prints))
        for id_, frame in parts.items():
            if len(frame):
                told = frame.assign(leaderboard=each.name, corpus=each.corpus)
                frames.setdefault(id_, []).append(told)
    if left_out:
        remarks.append(f"Left out: {'; '.join(left_out)}.")
    _tell(made, {id_: pd.concat(own, ignore_index=True) for id_, own in frames.items()}, " ".join(remarks))
    if found.boards or found.unread:
        given = {each.id for each in made.tables} | {each.id for each in made.figures}
        made.missing += _missing(given, left_out)
    return made


def _parts(each: Leaderboard, names: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Frames of one leaderboard by the id of their table."""
    ranked, systems = [*names, *(name for name in each.evaluators if name in RANKED)], systems_of(each.rows)
    tops, pairs = board(each.rows, ranked, systems)
    tops = tops.assign(
        rank_interval=[rank_range(*both) for both in zip(tops["rank_low"], tops["rank_high"], strict=True)],
        sure_ranks=[rank_range(*both) for both in zip(tops["sure_low"], tops["sure_high"], strict=True)],
        first_percent=100 * tops["first"],
    )
    captions = health(each.rows, systems)
    captions = captions[~captions["measure"].isin([f"cut {name}" for name in each.evaluators if name not in names])]
    levels, bins = scales(each.rows, names, systems)
    return {SYSTEMS: tops, DIFFERENCES: pairs, HEALTH: captions.assign(told=captions["measure"].map(told_as)),
            LEVELS: levels, SCALES: bins}  # fmt: skip


def _of(each: Leaderboard, names: Sequence[str], prints: Mapping[str, Collection[str]]) -> str:
    """What a leaderboard is of, and which of its evaluators is another than that of the runs."""
    told = f"{each.name}: corpus {each.corpus}, scored {each.created}."
    others = [name for name in names if prints.get(name) and each.evaluators[name] not in prints[name]]
    if others:
        told += (f" {', '.join(others)} scored it with another fingerprint than these runs: other weights, precision "
                 "or versions.")  # fmt: skip
    return told


def _tell(made: Boards, frames: Mapping[str, pd.DataFrame], remarks: str) -> None:
    paper = {id_: ELSEWHERE[id_][0] for id_ in (SYSTEMS, HEALTH, SCALES)}
    told = {
        SYSTEMS: ("Captioners: who stands above whom", _SYSTEMS_NOTE, _SYSTEMS, paper[SYSTEMS]),
        HEALTH: ("Captioners: the health of their captions", _HEALTH_NOTE, _HEALTH, paper[HEALTH]),
        LEVELS: ("Captioners: their scores at other scales", _SCALES_NOTE, _LEVELS, paper[SCALES]),
        DIFFERENCES: ("Captioners: every pairwise difference", _SYSTEMS_NOTE, (), paper[SYSTEMS]),
    }
    for id_, (title, note, columns, of) in told.items():
        if id_ in frames:
            frame = frames[id_]
            if id_ == HEALTH:
                made.details.append(Table(f"{HEALTH}-all", title, note, frame, (), of))
                frame = frame.dropna(subset=["value"]).reset_index(drop=True)
            table = Table(id_, title, f"{note} {remarks}", frame, columns, of)
            (made.tables if columns else made.details).append(table)
    if SCALES in frames:
        bins = frames[SCALES].assign(panel=frames[SCALES]["leaderboard"] + ", " + frames[SCALES]["evaluator"])
        made.figures.append(
            scale_shares(bins, id_=SCALES, title="Captioners: scores by the scale of the cosine", note=_SHARES_NOTE,
                         paper=paper[SCALES])
        )  # fmt: skip


def _missing(given: Collection[str], left_out: Sequence[str]) -> list[Missing]:
    why = "no kept leaderboard has scores by an evaluator of these runs"
    if left_out:
        why += f" that can be ranked; left out: {'; '.join(left_out)}"
    reasons = {
        SYSTEMS: why, HEALTH: why,
        SCALES: why if SYSTEMS not in given else
        "none of these evaluators' scores is w · max(cos, 0) with a w that is known",
    }  # fmt: skip
    return [Missing(id_, ELSEWHERE[id_][0], reason) for id_, reason in reasons.items() if id_ not in given]
