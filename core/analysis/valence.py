"""What the geometry of a text encoder is asked of: word lists, modifiers' shifts and objects, and the encoder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from core.analysis.bootstrap import median_bca
from core.analysis.slices import Slice, where
from core.audit.store import Store
from core.errors import InvalidInput, InvariscopeError
from core.probes.tables import read_table
from core.settings import assets_dir

if TYPE_CHECKING:
    from core.evaluators.pool import Pool

MOST_WORDS = 100
"""Words of one side of the direction; more than that is no list that a person reads."""

POSITIVE, NEGATIVE = "positive", "negative"


@dataclass(frozen=True, slots=True)
class ValenceWords:
    """Words that span the valence direction, in the order of the file."""

    positive: tuple[str, ...]
    negative: tuple[str, ...]


def valence_words(path: Path | None = None) -> ValenceWords:
    """Read the word lists that a person may edit.

    Args:
        path: another file; None: ``assets/valence/words.csv``.

    Raises:
        InvalidInput: with file, line and remedy; or if a side is empty or too long.
    """
    path = path or assets_dir() / "valence" / "words.csv"
    sides: dict[str, list[str]] = {POSITIVE: [], NEGATIVE: []}
    seen: set[str] = set()
    for row in read_table(path, ("word", "sign")):
        word = row.required("word")
        if word in seen:
            row.fail(f"the word {word!r} stands twice; keep one line")
        seen.add(word)
        sides[row.one_of("sign", sides)].append(word)
    for side, words in sides.items():
        if not 0 < len(words) <= MOST_WORDS:
            raise InvalidInput(f"{path}: 1 to {MOST_WORDS} {side} words are needed, got {len(words)}")
    return ValenceWords(tuple(sides[POSITIVE]), tuple(sides[NEGATIVE]))


def split_words(text: str) -> tuple[str, ...]:
    """Words of a list that a person typed, separated by commas or lines; each once, in order.

    Raises:
        InvalidInput: if there are more than MOST_WORDS.

    Example:
        >>> split_words("good, nice,\\n good")
        ('good', 'nice')
    """
    words = tuple(dict.fromkeys(" ".join(word.split()) for word in text.replace("\n", ",").split(",") if word.strip()))
    if len(words) > MOST_WORDS:
        raise InvalidInput(f"a list holds at most {MOST_WORDS} words, got {len(words)}; keep the plainest ones")
    return words


def modifier_shifts(store: Store, chosen: Slice, *, evaluator: str) -> pd.DataFrame:
    """Median %Δ of every modifier under one evaluator, against the length-matched neutral caption.

    Returns:
        Columns family, modifier, median_percent, low, high (95 % BCa over items), n_items; sorted.
    """
    clause, params = where(chosen)
    rows = store.query(
        f"select s.family, s.modifier, s.corpus, s.item, median(s.percent) as percent from shifts s {clause} "
        "and s.modifier is not null and not s.control and s.evaluator = $only_evaluator "
        "group by all having percent is not null order by all",
        {**params, "only_evaluator": evaluator},
    )
    records = []
    for (family, modifier), group in rows.groupby(["family", "modifier"], sort=True):
        found = median_bca(group["percent"])
        records.append({"family": family, "modifier": modifier, "median_percent": found.estimate, "low": found.low,
                        "high": found.high, "n_items": found.n})  # fmt: skip
    return pd.DataFrame(records, columns=["family", "modifier", "median_percent", "low", "high", "n_items"])


def modifier_objects(store: Store, chosen: Slice) -> tuple[Mapping[str, tuple[str, ...]], tuple[str, ...]]:
    """Nouns that each modifier was put before, and the neutral words beside them.

    Returns:
        Modifier or control -> labels, sorted; and the controls.
    """
    clause, params = where(Slice(runs=chosen.runs, corpora=chosen.corpora, families=chosen.families, controls=True,
                                 categories=chosen.categories, subjects=chosen.subjects))  # fmt: skip
    rows = store.query(
        f"select distinct s.modifier, s.label, s.control from shifts s {clause} and s.modifier is not null "
        "and s.label is not null order by all",
        params,
    )
    objects = {str(name): tuple(map(str, group["label"])) for name, group in rows.groupby("modifier", sort=True)}
    return objects, tuple(sorted(set(map(str, rows["modifier"][rows["control"].astype(bool)]))))


def text_encoders(references: Sequence[str]) -> dict[str, str]:
    """Which evaluators have a text encoder that can be asked here.

    Returns:
        Reference -> "" where it can be asked, else why not.
    """
    return {reference: _obstacle(reference) for reference in references}


def embed(pool: "Pool", reference: str, texts: Sequence[str]) -> np.ndarray:
    """Embed texts with an evaluator's text encoder.

    Returns:
        float64 [n, d], L2-normalised; a row of NaN where a text cannot be read.

    Raises:
        NotAvailable: if its weights are not on this machine.
        InvalidInput: if the evaluator has no text encoder.
    """
    from core.evaluators.base import DualEncoder

    with pool.lease(reference) as evaluator:
        if not isinstance(evaluator, DualEncoder):
            raise InvalidInput(f"evaluator {reference!r} has no text encoder; choose one that embeds captions")
        return np.asarray(evaluator.encode_captions(list(texts)).double().numpy())


def _obstacle(reference: str) -> str:
    from core.evaluators.base import DualEncoder
    from core.evaluators.registry import find

    try:
        kind = find(reference)
        if not issubclass(kind, DualEncoder):
            return "it has no text encoder: it scores a pair at once"
        ready = kind.availability()
    except InvariscopeError as error:
        return str(error)
    return "" if ready.ready else f"{ready.reason}; get it with: {ready.command}"
