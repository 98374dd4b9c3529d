"""Tables 2 to 4, figures 2 to 4: flips, repositioning, rotations, and whether compositing explains them."""

import numpy as np
import pandas as pd

from core.analysis.artifacts import artifact_filters
from core.analysis.factors import factor_test
from core.report.cube import Cube, per_item, percent
from core.report.model import Column, Figure, Missing, Part, Table
from core.report.shifts import (
    CORPUS,
    COUNT,
    EVALUATOR,
    HOW,
    PERCENT,
    TESTS,
    contrast,
    contrasts,
    corpora,
    mixed,
    with_holm,
)

FLIP, ROTATION, REPOSITION = "vertical-flip", "rotation", "reposition"
ANCHORS = ("reposition-TL", "reposition-BR")
ROTATIONS = ("rotate-10", "rotate+10")
CORNERS = "bottom right vs top left"
_GROUP = Column("group", "Edit", kind="text")
_BETA = Column("beta", "β₁ [95 % CI]", digits=4, signed=True, low="beta_low", high="beta_high")


def spatial(cube: Cube) -> Part:
    """Every table and figure on spatial edits."""
    parts = (_filters(cube), _flips(cube), _moves(cube), _quadrants(cube))
    return Part(
        tuple(each for part in parts for each in part.tables),
        tuple(each for part in parts for each in part.figures),
        tuple(each for part in parts for each in part.missing),
    )


def dots(frame: pd.DataFrame, *, label: str, series: str, panel: str = "") -> pd.DataFrame:
    """Frame of contrasts as a figure takes it: median %Δ with its interval."""
    return pd.DataFrame(
        {
            "label": frame[label], "series": frame[series], "panel": frame[panel] if panel else "",
            "value": frame["median_percent"], "low": frame["low"], "high": frame["high"], "n": frame["n_items"],
        }
    )  # fmt: skip


def _flips(cube: Cube) -> Part:
    probes = cube.chosen(family=FLIP, control=False)
    if not probes:
        reason = "no run holds a vertical flip; audit the probe vflip"
        return Part(missing=(Missing("T3", "Table 3", reason), Missing("F2", "Figure 2", reason)))
    frame = contrasts(cube, {FLIP: probes}, pooled=True)
    frame = frame.merge(_betas(cube, {FLIP: probes}), on=["evaluator", "corpus", "group"], how="left")
    table = Table(
        "T3", "Vertical flips: how far scores move",
        f"{HOW} β₁: mean shift of the score by REML, crossed random intercepts for image and category.",
        frame, (EVALUATOR, CORPUS, COUNT, PERCENT, _BETA, *TESTS), "Table 3",
    )  # fmt: skip
    figure = Figure(
        "F2", "Vertical flips", "Median %Δ with its 95 % BCa interval; the line is no change.",
        dots(frame, label="evaluator", series="corpus"), "median %Δ", paper="Figure 2",
    )  # fmt: skip
    return Part((table,), (figure,))


def _moves(cube: Cube) -> Part:
    """Bottom right against top left, and the small rotations."""
    missing, records = [], []
    rotations = tuple(name for name in ROTATIONS if name in cube.probes.index)
    anchors = all(name in cube.probes.index for name in ANCHORS)
    for evaluator in cube.evaluators:
        for corpus, keep in corpora(cube, pooled=True):
            named = {"evaluator": evaluator, "corpus": corpus}
            if anchors:
                left, right = cube.after(evaluator, ANCHORS)[:, keep]
                if not np.isnan(left + right).all():
                    records.append({**named, "group": CORNERS, **contrast(right[None], left[None])})
            if rotations:
                after, before = cube.after(evaluator, rotations)[:, keep], cube.before(evaluator, rotations)[:, keep]
                records.append({**named, "group": "rotation by ±10°", **contrast(after, before)})
    if not anchors:
        missing.append(Missing("F3", "Figure 3", "no run repositions to both top left and bottom right"))
    if not rotations:
        missing.append(Missing("F4", "Figure 4", "no run rotates by ±10°"))
    if not records:
        return Part(missing=(Missing("T4", "Table 4", "no run repositions or rotates"), *missing))
    frame = with_holm(records)
    wanted = {"rotation by ±10°": rotations} if rotations else {}
    frame = frame.merge(_betas(cube, wanted, corners=anchors), on=["evaluator", "corpus", "group"], how="left")
    table = Table(
        "T4", "Repositioning and small rotations: how far scores move",
        f"{HOW} Repositioning compares the object at the bottom right with the same object at the top left. "
        "β₁: mean shift of the score by REML, crossed random intercepts for image and category.",
        frame, (EVALUATOR, CORPUS, _GROUP, COUNT, PERCENT, _BETA, *TESTS), "Table 4",
    )  # fmt: skip
    figures = []
    for id_, group, title, paper in (
        ("F3", CORNERS, "Repositioning, bottom right against top left", "Figure 3"),
        ("F4", "rotation by ±10°", "Rotations by ±10°", "Figure 4"),
    ):
        rows = frame[frame["group"] == group]
        if len(rows):
            note = "Median %Δ with its 95 % BCa interval; the line is no change."
            figures.append(
                Figure(id_, title, note, dots(rows, label="evaluator", series="corpus"), "median %Δ", paper=paper)
            )
    return Part((table,), tuple(figures), tuple(missing))


def _betas(cube: Cube, groups: dict[str, tuple[str, ...]], *, corners: bool = False) -> pd.DataFrame:
    """β₁ of every evaluator and group, over all corpora together and, where there is one only, of that one."""
    corpus, keep = list(corpora(cube, pooled=True))[-1]
    records = []
    for evaluator in cube.evaluators:
        pairs = {
            name: (per_item(cube.after(evaluator, names)), per_item(cube.before(evaluator, names)))
            for name, names in groups.items()
        }
        if corners:
            left, right = cube.after(evaluator, ANCHORS)
            pairs[CORNERS] = (right, left)
        for group, (after, before) in pairs.items():
            records.append({**mixed(cube, evaluator, after, before, keep), "corpus": corpus, "group": group})
    return pd.DataFrame(records)


def _filters(cube: Cube) -> Part:
    if not len(cube.diagnostics) or not all(name in cube.probes.index for name in ANCHORS):
        reason = "no run holds objects moved to both top left and bottom right, with their diagnostics"
        return Part(missing=(Missing("T2", "Table 2", reason),))
    rows = []
    for evaluator in cube.evaluators:
        for probe, scores in zip(ANCHORS, cube.after(evaluator, ANCHORS), strict=True):
            there = ~np.isnan(scores)
            found = cube.items.loc[there, ["corpus", "item"]].assign(
                subject=cube.subject, probe=probe, score=scores[there], evaluator=evaluator
            )
            rows.append(found.merge(cube.diagnostics, on=["corpus", "item", "probe"], how="left"))
    frame = artifact_filters(pd.concat(rows, ignore_index=True))
    frame["condition"] = [
        "all composites" if name == "none" else f"without the top {q:g} % by {_SAID[name]}"
        for name, q in zip(frame["filter"], frame["q"], strict=True)
    ]
    frame["retained"] = 100 * frame["n_items"] / (frame["n_items"] + frame["cut_items"]).clip(lower=1)
    composites = cube.diagnostics[cube.diagnostics["probe"].isin(ANCHORS)]
    note = (
        f"Median %Δ from top left to bottom right, with ever more suspicious composites dropped; 95 % BCa intervals. "
        f"Over the {len(composites)} composites, the median BGΔ is {1000 * composites['bg_delta'].median():.2f} · 10⁻³ "
        f"and the median seam ratio {composites['seam_ratio'].median():.2f} (1: the seam is as strong as the object's "
        "own edge). The paper's line on feathered composites needs the same items rendered without: every composite "
        "here is feathered."
    )
    columns = (
        EVALUATOR, Column("condition", "Composites", kind="text"), Column("retained", "Kept %", digits=0), COUNT,
        PERCENT, Column("same", "Direction", kind="text"), Column("overlap", "Interval", kind="text"),
    )  # fmt: skip
    frame["same"] = ["same" if same else "turned" for same in frame["same_direction"]]
    frame["overlap"] = ["overlaps" if each else "apart" for each in frame["overlaps"]]
    return Part((Table("T2", "Repositioning without the suspicious composites", note, frame, columns, "Table 2"),))


_SAID = {"seam": "seam", "background": "background", "either": "either"}


def _quadrants(cube: Cube) -> Part:
    """Do the four anchors differ?"""
    probes = cube.chosen(family=REPOSITION, control=False)
    if len(probes) < 2:
        return Part(missing=(Missing("S2", "B.1, quadrants", "no run repositions to two places or more"),))
    return Part((factor_table(cube, probes, id_="S2", title="Repositioning: do the quadrants differ?", of="probe"),))


def factor_table(
    cube: Cube, probes: tuple[str, ...], *, id_: str, title: str, of: str, keep: np.ndarray | None = None
) -> Table:
    """Omnibus tests over several probes, and the pairs of them that differ after Holm's correction.

    Args:
        cube: scores.
        probes: the levels.
        id_: of the table.
        title: of the table.
        of: column of ``cube.probes`` that names a level: ``probe`` or ``modifier``.
        keep: items to keep.
    """
    names = list(probes) if of == "probe" else [str(cube.probes.loc[name, of]) for name in probes]
    records, of_corpus = [], cube.of_corpus(cube.reference)
    for evaluator in cube.evaluators:
        change = percent(cube.after(evaluator, probes), cube.before(evaluator, probes))
        change = change[:, of_corpus if keep is None else of_corpus & keep]
        items = np.tile(np.arange(change.shape[1]), len(probes))
        levels = np.repeat(np.arange(len(probes)), change.shape[1])
        records.append({"evaluator": evaluator, **factor_row(change.ravel(), levels, items, names)})
    return Table(id_, title, f"{FACTOR_HOW} {on_reference(cube)}", pd.DataFrame(records), FACTOR_COLUMNS)


def on_reference(cube: Cube) -> str:
    """Say on which corpus a table was made that is made on one only."""
    return f"Items of corpus {cube.reference}." if len(cube.corpora) > 1 else ""


FACTOR_HOW = (
    "Kruskal–Wallis takes every value for an independent one; Friedman compares the levels within the items that have "
    "all of them. Pairs: paired test where half of the items of the smaller level have both, Mann–Whitney otherwise; "
    "they differ where p < 0.05 after Holm over the evaluator's pairs. δ: Cliff's, of the pair furthest apart."
)
FACTOR_COLUMNS = (
    EVALUATOR, Column("levels", "Levels", digits=0), Column("n", "n values", digits=0), Column("h", "H", digits=1),
    Column("p", "p (Kruskal–Wallis)", kind="p"), Column("friedman_n", "n items", digits=0),
    Column("chi", "χ² (Friedman)", digits=1), Column("friedman_p", "p (Friedman)", kind="p"),
    Column("differ", "Pairs that differ", kind="text"), Column("pairs", "of", digits=0),
    Column("strongest", "Largest |δ|", kind="text"),
)  # fmt: skip


def factor_row(values: np.ndarray, levels: np.ndarray, items: np.ndarray, names: list[str]) -> dict[str, object]:
    """One line of a table of omnibus tests; levels are positions in ``names``."""
    found = factor_test(values, levels, items)
    pairs = found.pairs
    differ = int((pairs["p_holm"].astype(float) < 0.05).sum())
    strongest = ""
    if len(pairs) and pairs["cliffs_delta"].notna().any():
        top = pairs.iloc[int(pairs["cliffs_delta"].abs().to_numpy(float).argmax())]
        first, second = (top["a"], top["b"]) if top["cliffs_delta"] >= 0 else (top["b"], top["a"])
        strongest = f"{names[int(first)]} > {names[int(second)]}, δ {abs(top['cliffs_delta']):.2f}"
    return {
        "levels": found.kruskal.levels, "n": found.kruskal.n, "h": found.kruskal.statistic, "p": found.kruskal.p,
        "friedman_n": found.friedman.n, "chi": found.friedman.statistic, "friedman_p": found.friedman.p,
        "differ": str(differ), "pairs": len(pairs), "strongest": strongest,
        "note": "; ".join(each for each in (found.kruskal.note, found.friedman.note) if each),
    }  # fmt: skip
