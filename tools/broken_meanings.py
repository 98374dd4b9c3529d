"""The tables of docs/broken-meanings.md: failures, further readings and answers over some runs.

python tools/broken_meanings.py data/runs/FIRST data/runs/SECOND

Runs may be of one corpus' halves: items of different runs are different items. Of each item the first caption counts.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

from core.analysis.comparisons import DIRECTIONAL, RESPONSE
from core.probes.registry import catalogue, further_readings
from core.statistics.shares import share
from core.store.store import Store

_SIDE = ["run", "item", "subject", "language", "rank", "evaluator"]
"""What both sides of a comparison have in common."""

_READ = [*_SIDE[1:], "probe", "family", "expectation", "baseline", "score"]

_APART = ("colour-word",)
"""Families whose probes are of different kinds, a row each."""

_REFUSALS = ["run", "item", "probe", "code"]


def compared(folders: Sequence[Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both sides of every comparison of the first captions, and what was refused of all captions.

    Returns:
        (probe, family, expectation, evaluator, item of its run, right and wrong, without those that lack a score; run,
        item, probe and code of each refusal).
    """
    scores, refused = list[pd.DataFrame](), list[pd.DataFrame]()
    for folder in folders:
        with Store.open([folder]) as store:
            found = store.query(f"select {', '.join(_READ)} from scores")
        scores.append(found[found["rank"] == 0].assign(run=folder.name))
        if (folder / "rejections").is_dir():
            refused.append(
                pd.read_parquet(folder / "rejections", columns=["item", "probe", "code"]).assign(run=folder.name)
            )
    rows = pd.concat(scores, ignore_index=True)
    right = rows[[*_SIDE, "probe", "score"]].rename(columns={"probe": "baseline", "score": "right"})
    both = rows[rows["baseline"].notna()].merge(right, on=[*_SIDE, "baseline"]).rename(columns={"score": "wrong"})
    both = both.dropna(subset=["right", "wrong"])
    return both.assign(item=both["run"] + "/" + both["item"]), pd.concat(refused or [pd.DataFrame(columns=_REFUSALS)])


def tables(both: pd.DataFrame, refused: pd.DataFrame) -> str:
    """Failures by family with what was refused, further readings one by one, and answers, as Markdown."""
    evaluators = sorted(both["evaluator"].unique())
    broken, answered = (both[both["expectation"] == each] for each in (DIRECTIONAL, RESPONSE))
    whole = [(name, probes, broken) for name, probes in _rows(broken, further=False).items()]
    parts = [(name, probes, broken) for name, probes in _rows(broken, further=True).items()]
    rises = [(probe, [probe], answered) for probe in dict.fromkeys(answered["probe"])]
    return "\n\n".join(
        _table(title, rows, evaluators, refused, rising=rising)
        for title, rows, rising in (("family", whole, False), ("reading", parts, False), ("higher", rises, True))
        if rows
    )


def _rows(broken: pd.DataFrame, *, further: bool) -> dict[str, list[str]]:
    """Name of a row -> its probes: families of headlines, or further readings, the further foils as one."""
    readings = further_readings()
    found: dict[str, list[str]] = {}
    for probe, family in dict(zip(broken["probe"], broken["family"], strict=True)).items():
        if (probe in readings) == further:
            known = catalogue().get(probe).selector if further and family == "foil" else ""
            name = known or (probe if further or family in _APART else family)
            found.setdefault(str(name), []).append(str(probe))
    return found


def _table(
    title: str,
    rows: Iterable[tuple[str, Sequence[str], pd.DataFrame]],
    evaluators: Sequence[str],
    refused: pd.DataFrame,
    *,
    rising: bool,
) -> str:
    lines = [
        f"| {title} | {' | '.join(f'`{each}`' for each in evaluators)} | refused |",
        f"|{' --- |' * (len(evaluators) + 2)}",
    ]
    for name, probes, both in rows:
        own = both[both["probe"].isin(probes)]
        cells = [_cell(own[own["evaluator"] == each], rising=rising) for each in evaluators]
        lines.append(f"| `{name}` | {' | '.join(cells)} | {_refused(refused, probes)} |")
    return "\n".join(lines)


def _cell(own: pd.DataFrame, *, rising: bool) -> str:
    """Share in percent with its Wilson interval and n; comparisons of one item are taken together."""
    if own.empty:
        return "—"
    right, wrong = own["right"].to_numpy(), own["wrong"].to_numpy()
    hit = np.asarray(wrong > right if rising else wrong >= right)
    found = share(hit, groups=own["item"].to_numpy() if own["item"].duplicated().any() else None)
    ends = "no interval" if np.isnan(found.low) else f"{100 * found.low:.0f}–{100 * found.high:.0f}"
    return f"{100 * found.estimate:.0f} ({ends}; n {len(hit)})"


def _refused(refused: pd.DataFrame, probes: Sequence[str]) -> str:
    """Codes with how often; where every probe has as many, as many of each."""
    own = refused[refused["probe"].isin(probes)]
    said = []
    for code, counts in _by_code(own).items():
        alike = len(counts) == len(probes) > 1 and len(set(counts.values())) == 1
        said.append(f"{code} {next(iter(counts.values()))} by each" if alike else f"{code} {sum(counts.values())}")
    return ", ".join(said) or "none"


def _by_code(own: pd.DataFrame) -> Mapping[str, Mapping[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for code, probe in zip(own["code"], own["probe"], strict=True):
        counts = found.setdefault(str(code), {})
        counts[str(probe)] = counts.get(str(probe), 0) + 1
    return dict(sorted(found.items()))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    print(tables(*compared([Path(each) for each in sys.argv[1:]])))
