"""What the geometry of a text encoder is asked of: word lists, modifiers' shifts and objects, and the encoder."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from core.analysis.effects import effects, modifier_groups
from core.analysis.table import View
from core.errors import InvalidInput, InvariscopeError
from core.probes.tables import read_table
from core.settings import assets_dir

if TYPE_CHECKING:
    from core.evaluators.pool import Pool

MOST_WORDS = 100
"""Words of one side of the direction; more than that is no list that a person reads."""

POSITIVE, NEGATIVE = "positive", "negative"

NO_ENCODER = "it has no text encoder: it scores a pair at once"
"""Why the geometry of a black box is not told."""

NOT_KNOWN = "no evaluator of this name is installed here; one that a run was given by path is not asked"
"""Why a name is not asked: it may be a path that a stranger wrote, to code that would run."""


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


def modifier_shifts(view: View, *, evaluator: str) -> pd.DataFrame:
    """Median %Δ of every modifier under one evaluator, against the length-matched neutral caption.

    Args:
        view: of the table of scores, one corpus of it.
        evaluator: whose scores.

    Returns:
        Columns family, modifier, median_percent, low, high (95 % BCa over items), n_items; sorted.
    """
    probes = view.table.probes
    of_words = set(probes.loc[probes["modifier"].notna(), "family"])
    groups = [group for family in view.families() if family in of_words for group in modifier_groups(view, family)]
    found = effects(view.of(evaluator), groups).rename(columns={"label": "modifier", "tests": "family"})
    return found.loc[found["median_percent"].notna(), list(_SHIFTS)].sort_values(list(_SHIFTS[:2]), ignore_index=True)


_SHIFTS = ("family", "modifier", "median_percent", "low", "high", "n_items")


def modifier_objects(view: View) -> tuple[Mapping[str, tuple[str, ...]], tuple[str, ...]]:
    """Nouns that each modifier was put before, and the neutral words beside them.

    Returns:
        Modifier or control -> labels, sorted; and the controls.
    """
    table, labels = view.table, view.table.items["label"]
    objects: dict[str, set[str]] = {}
    controls = set()
    for probes in view.families(controls=True).values():
        for name in probes:
            word = table.probes.loc[name, "modifier"]
            if isinstance(word, str):
                there = view.items & table.stored[:, table.probes.index.get_loc(name)].any(axis=0)
                objects.setdefault(word, set()).update(map(str, labels[there].dropna()))
                controls |= {word} if table.probes.loc[name, "control"] else set()
    return {word: tuple(sorted(nouns)) for word, nouns in sorted(objects.items())}, tuple(sorted(controls))


def text_encoders(
    names: Sequence[str], barred: Mapping[str, str] = MappingProxyType({}), own: Collection[str] = ()
) -> dict[str, str]:
    """Which evaluators have a text encoder that can be asked here.

    Args:
        names: of evaluators as scores have them, which somebody else may have written: none is taken for a path.
        barred: those among them of which it is known that they cannot be asked, and why.
        own: those among them that were given by path and may be asked (:func:`core.evaluators.registry.know`).

    Returns:
        Name -> "" where it can be asked, else why not.
    """
    return {name: barred.get(name) or _obstacle(name, own) for name in names}


def embed(pool: "Pool", name: str, texts: Sequence[str], own: Collection[str] = ()) -> np.ndarray:
    """Embed texts with an evaluator's text encoder.

    Args:
        pool: where it is loaded.
        name: of the evaluator as scores have it; never taken for a path.
        texts: to embed, n of them.
        own: as for :func:`text_encoders`.

    Returns:
        float64 [n, d], L2-normalised; a row of NaN where a text cannot be read.

    Raises:
        NotAvailable: if its weights are not on this machine.
        InvalidInput: if the evaluator has no text encoder, or nobody here knows it.
    """
    from core.evaluators.base import DualEncoder
    from core.evaluators.registry import is_known

    if not (name in own or is_known(name)):
        raise InvalidInput(f"evaluator {name!r}: {NOT_KNOWN}")
    with pool.lease(name) as evaluator:
        if not isinstance(evaluator, DualEncoder):
            raise InvalidInput(f"evaluator {name!r} has no text encoder; choose one that embeds captions")
        return np.asarray(evaluator.encode_captions(list(texts)).double().numpy())


def _obstacle(name: str, own: Collection[str]) -> str:
    from core.evaluators.base import DualEncoder
    from core.evaluators.imported import is_imported, refuse
    from core.evaluators.registry import find, is_known

    if is_imported(name):
        return str(refuse(name))
    if not (name in own or is_known(name)):
        return NOT_KNOWN
    try:
        kind = find(name)
        if not issubclass(kind, DualEncoder):
            return NO_ENCODER
        ready = kind.availability()
    except InvariscopeError as error:
        return str(error)
    return "" if ready.ready else f"{ready.reason}; get it with: {ready.command}"
