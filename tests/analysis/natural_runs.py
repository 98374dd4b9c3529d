"""Two runs of natural captions written by hand: corpora ``a`` and ``b`` share some of their texts."""

from pathlib import Path
from typing import Any

import numpy as np

from tests.analysis.made_runs import score, write_run

_THINGS = ("car", "chair", "bicycle", "phone", "bag", "coat", "table", "boat", "clock", "sofa", "lamp", "guitar")
TEXTS = tuple(f"A {{}} {thing} {where}." for thing in _THINGS for where in ("outside", "in a shop"))
"""Captions with a gap for the word."""

FAMILIES = {
    "natural-economic": ("cheap", "expensive"),
    "natural-economic-spacy": ("cheap", "expensive"),
    "natural-emotion": ("happy", "sad"),
}


def natural_rows(corpus: str, *, seed: int, evaluator: str = "e") -> list[dict[str, Any]]:
    """Rows of three families; scores are drawn on a coarse scale, so that some are equal."""
    rng, rows = np.random.default_rng(seed), list[dict[str, Any]]()
    for place, gapped in enumerate(TEXTS):
        item = f"i{place:03d}"
        rows.append(_row(corpus, item, "identity", None, rng, evaluator, "There is a thing."))
        for family, words in FAMILIES.items():
            if family != "natural-economic" and place >= (16 if family.endswith("spacy") else 5):
                continue
            said = words[int(rng.integers(2))]
            other = words[1 - words.index(said)]
            control = {"control": True, "baseline": "base"}
            text = gapped.format if corpus == "a" else gapped.replace(".", " again.").format
            texts = {"neutralised": ("plain", control), said: (said, {}), f"swapped-{other}": (other, {})}
            for name, (word, told) in texts.items():
                told = {
                    "modifier": None if name == "neutralised" else word,
                    "baseline": f"{family}:neutralised",
                    **told,
                }
                rows.append(_row(corpus, item, f"{family}:{name}", family, rng, evaluator, text(word), **told))
        rows.append(
            _row(corpus, item, "base", "base", rng, evaluator, "There is a thing.", control=True, baseline="identity")
        )
    return rows


def _row(
    corpus: str,
    item: str,
    probe: str,
    family: str | None,
    rng: np.random.Generator,
    evaluator: str,
    caption: str,
    **told: Any,
) -> dict[str, Any]:
    about = {"axis": "societal" if family else None, "family": family, **told}
    value = float(rng.integers(5, 15)) / 20
    return score(item, probe, value, corpus=corpus, evaluator=evaluator, caption=caption, **about)


def write_natural(folder: Path) -> Path:
    """Write runs ``ra`` and ``rb``; the words of the shared texts are the same in both."""
    first = natural_rows("a", seed=1)
    second = _with_words_of(first, natural_rows("b", seed=2))
    for name, rows in (("a", first), ("b", second)):
        human = [{**row, "subject": "human"} for row in rows if row["probe"] == "identity"]
        write_run(folder / f"r{name}", [*rows, *human], corpus={"name": name})
    return folder


def _with_words_of(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the second corpus, whose shared items say what the first corpus's say."""
    kept = [row for row in second if row["item"] not in ("i000", "i001", "i003")]
    shared = {"i000": "i000", "i001": "i001"}
    made = [
        {**row, "corpus": "b", "caption": str(row["caption"]).upper().replace(".", " ")}
        for row in first
        if row["item"] in shared
    ]
    twin = [{**row, "item": "i003"} for row in kept if row["item"] == "i002"]
    return [*kept, *made, *twin]
