"""Does a text encoder's sense of good and bad say how much a modifier moves a score? Source: paper A, A.13.

v_val = mean e(positive words) - mean e(negative words), at unit length; s(a) = ⟨e(a), v_val⟩ for a modifier a, or
the mean of ⟨e(a, o), v_val⟩ over objects o; Spearman's ρ of s(a) with the median % change that a induces.

Modifiers along the valence direction against the shift that they induce, every label readable.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from core.analysis.effects import effects, modifier_groups
from core.analysis.table import View
from core.analysis.verdicts import ALPHA
from core.charts.spec import Axis, Figure, counted, marks_of, signed, untitled
from core.errors import InvalidInput, InvariscopeError
from core.probes.tables import read_table
from core.settings import assets_dir
from core.statistics.power import smallest_rho
from core.statistics.rank_agreement import RankTest, rank_test

WORD, PHRASE = "word", "phrase"
LEVELS = (WORD, PHRASE)

Encode = Callable[[Sequence[str]], np.ndarray]
"""Texts -> unit vectors, float [n, d]; a row of NaN where a text cannot be read."""

ALL = "all"  # stands for every family together in the table of tests


@dataclass(frozen=True, slots=True)
class Geometry:
    """Modifiers along the valence direction, and whether their place goes with their shift."""

    level: str  # WORD or PHRASE
    # columns family, modifier, projection, median_percent, low, high, n_items, n_objects (phrases behind the
    # projection; 0 at word level); one row a modifier with both numbers
    points: pd.DataFrame
    # columns family, rho, p, n, method, least, note; ALL first, then family by family. Each family has a baseline of
    # its own, so ALL ranks within families, and its orders keep every modifier in its own.
    tests: pd.DataFrame
    neutral: float  # mean projection of the neutral controls, NaN where there is none
    left_out: tuple[str, ...] = ()  # one sentence for each modifier or word that could not be placed


def valence_direction(positive: ArrayLike, negative: ArrayLike) -> np.ndarray:
    """Difference of two means of embeddings, float [p, d] and [q, d], at unit length, float64 [d]; rows with a NaN are
    left out. Raises InvalidInput if a side is empty, the dimensions differ, or both means are the same.

    Example:
        >>> valence_direction([[1.0, 0.0]], [[0.0, 1.0]]).round(3)
        array([ 0.707, -0.707])
    """
    sides = [_readable(embeddings, side) for embeddings, side in ((positive, "positive"), (negative, "negative"))]
    if sides[0].shape[1] != sides[1].shape[1]:
        raise InvalidInput(f"embeddings of {sides[0].shape[1]} and {sides[1].shape[1]} dimensions do not compare")
    difference = sides[0].mean(axis=0) - sides[1].mean(axis=0)
    length = float(np.linalg.norm(difference))
    if length < 1e-9:
        raise InvalidInput("positive and negative words have the same mean embedding; choose words that differ more")
    return np.asarray(difference / length)


def geometry(
    encode: Encode,
    shifts: pd.DataFrame,
    *,
    positive: Sequence[str],
    negative: Sequence[str],
    level: str = WORD,
    objects: Mapping[str, Sequence[str]] | None = None,
    controls: Sequence[str] = (),
) -> Geometry:
    """Place every modifier along the valence direction and hold its place to its median shift. Raises InvalidInput if
    the level is not known, or a word list is empty or overlaps with the other.

    Args:
        shifts: columns family, modifier, median_percent, low, high, n_items; one row a modifier.
        positive, negative: words that span the two ends of the direction.
        level: WORD embeds the modifier alone; PHRASE embeds it before each of its objects and takes the mean.
        objects: modifier -> nouns that it was put before in the run; needed at phrase level.
        controls: neutral words; their mean projection is where *no feeling* lies for this encoder.
    """
    if level not in LEVELS:
        raise InvalidInput(f"level must be one of {', '.join(LEVELS)}, got {level!r}")
    for side, listed in (("positive", positive), ("negative", negative)):
        if not listed:
            raise InvalidInput(f"the list of {side} words is empty; write at least one, e.g. 'good' or 'bad'")
    if both := sorted(set(positive) & set(negative)):
        raise InvalidInput(f"{', '.join(both)} stands in both word lists; keep it in one")
    words = list(dict.fromkeys([*positive, *negative]))
    tested = sorted(set(map(str, shifts["modifier"])) & set(words))
    modifiers = list(dict.fromkeys([*map(str, shifts["modifier"]), *controls]))
    phrases = {
        name: [name] if level == WORD else [f"{name} {noun}" for noun in (objects or {}).get(name, ())]
        for name in modifiers
    }
    texts = list(dict.fromkeys([*words, *(text for each in phrases.values() for text in each)]))
    embedded = dict(zip(texts, np.asarray(encode(texts), dtype=np.float64), strict=True))
    direction = valence_direction([embedded[word] for word in positive], [embedded[word] for word in negative])
    placed = {name: _projection([embedded[text] for text in each], direction) for name, each in phrases.items()}
    points = shifts.assign(
        projection=shifts["modifier"].map(placed),
        n_objects=[len(phrases[str(name)]) if level == PHRASE else 0 for name in shifts["modifier"]],
    )
    whole = points["projection"].notna() & points["median_percent"].notna()
    left_out = [f"{name} has no text that could be read, or no shift" for name in points["modifier"][~whole]]
    left_out += [
        f"{name} is a modifier under test and in a word list: the direction measures itself" for name in tested
    ]
    neutral = [placed[name] for name in controls if not math.isnan(placed[name])]
    kept = points[whole].reset_index(drop=True)
    return Geometry(level, kept, _tests(kept), float(np.mean(neutral)) if neutral else math.nan, tuple(left_out))


def _tests(points: pd.DataFrame) -> pd.DataFrame:
    families = list(dict.fromkeys(points["family"]))
    parts = [(ALL, points), *((name, points[points["family"] == name]) for name in families if len(families) > 1)]
    records = []
    for name, rows in parts:
        found: RankTest = rank_test(rows["projection"], rows["median_percent"], groups=rows["family"])
        records.append((name, found.rho, found.p, found.n, found.method, found.least, found.note))
    return pd.DataFrame(records, columns=["family", "rho", "p", "n", "method", "least", "note"])


def concluded(found: Geometry, evaluator: str) -> list[str]:
    """What each row of the tests comes to, in a sentence, with what it could have shown where it shows nothing."""
    families = found.points["family"].nunique()
    return [_concluded(row, evaluator, families if row["family"] == ALL else 1) for _, row in found.tests.iterrows()]


def _concluded(row: pd.Series, evaluator: str, families: int) -> str:
    n = int(row["n"])
    where = counted(n, "word") + ("" if families == 1 else f" of {families} families")
    if math.isnan(row["rho"]):
        return (
            f"Whether a word that sounds more positive to {evaluator} changes the score more is unclear from {where}."
        )
    where += f", rank correlation {signed(row['rho'], digits=2, unit='')}"
    if row["p"] >= ALPHA:
        least = smallest_rho(n - families + 1)  # of several families each takes one, as ranks are within them
        told = (
            f"No link is found between how positive a word sounds to {evaluator} and how much it changes the score "
            f"({where})."
        )
        if not math.isnan(least):
            told += (
                f" With {n} words a true correlation of {least:.2f} would be found 80 % of the time; a weaker one may "
                "be missed."
            )
        return told
    way = "higher" if row["rho"] > 0 else "lower"
    return f"The more positive a word sounds to {evaluator}, the {way} its median % change tends to be ({where})."


def _projection(embeddings: list[np.ndarray], direction: np.ndarray) -> float:
    values = np.array([embedding @ direction for embedding in embeddings])
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else math.nan


def _readable(embeddings: ArrayLike, side: str) -> np.ndarray:
    values = np.atleast_2d(np.asarray(embeddings, dtype=np.float64))
    values = values[~np.isnan(values).any(axis=1)] if values.size else values
    if not values.size:
        raise InvalidInput(f"none of the {side} words could be embedded; choose other words")
    return values


if TYPE_CHECKING:
    from core.evaluators.pool import Pool

MOST_WORDS = 100  # words of one side of the direction; more than that is no list that a person reads
POSITIVE, NEGATIVE = "positive", "negative"
NO_ENCODER = "it has no text encoder: it scores a pair at once"  # why the geometry of a black box is not told

NOT_KNOWN = "no evaluator of this name is installed here; one that a run was given by path is not asked"
"""Why a name is not asked: it may be a path that a stranger wrote, to code that would run."""


@dataclass(frozen=True, slots=True)
class ValenceWords:
    """Words that span the valence direction, in the order of the file."""

    positive: tuple[str, ...]
    negative: tuple[str, ...]


def valence_words(path: Path | None = None) -> ValenceWords:
    """Read the word lists that a person may edit, usually ``assets/valence/words.csv``; raises InvalidInput with file,
    line and remedy, or if a side is empty or too long."""
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
    """Words of a list that a person typed, separated by commas or lines; each once, in order. Raises InvalidInput if
    there are more than MOST_WORDS.

    Example:
        >>> split_words("good, nice, good")
        ('good', 'nice')
    """
    words = tuple(dict.fromkeys(" ".join(word.split()) for word in text.replace("\n", ",").split(",") if word.strip()))
    if len(words) > MOST_WORDS:
        raise InvalidInput(f"a list holds at most {MOST_WORDS} words, got {len(words)}; keep the plainest ones")
    return words


def modifier_shifts(view: View, *, evaluator: str) -> pd.DataFrame:
    """Median % change of every modifier under one evaluator over one corpus, against the length-matched neutral
    caption: columns family, modifier, median_percent, low, high (95 % BCa over items), n_items; sorted."""
    probes = view.table.probes
    of_words = set(probes.loc[probes["modifier"].notna(), "family"])
    groups = [group for family in view.families() if family in of_words for group in modifier_groups(view, family)]
    found = effects(view.of(evaluator), groups).rename(columns={"label": "modifier", "tests": "family"})
    return found.loc[found["median_percent"].notna(), list(_SHIFTS)].sort_values(list(_SHIFTS[:2]), ignore_index=True)


_SHIFTS = ("family", "modifier", "median_percent", "low", "high", "n_items")


def modifier_objects(view: View) -> tuple[Mapping[str, tuple[str, ...]], tuple[str, ...]]:
    """Modifier or control -> nouns that it was put before, sorted; and the controls, the neutral words beside them."""
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
    """Name -> "" where an evaluator has a text encoder that can be asked here, else why not.

    Names are those of the scores, which somebody else may have written: none is taken for a path. ``barred``: those
    that cannot be asked, and why; ``own``: those given by path that may (:func:`core.evaluators.registry.know`).
    """
    return {name: barred.get(name) or _obstacle(name, own) for name in names}


def embed(pool: "Pool", name: str, texts: Sequence[str], own: Collection[str] = ()) -> np.ndarray:
    """Embed n texts with an evaluator's text encoder: float64 [n, d], L2-normalised; a row of NaN where a text cannot
    be read.

    Name and ``own`` are as for :func:`text_encoders`. Raises NotAvailable if its weights are not on this machine, and
    InvalidInput if it has no text encoder, or nobody here knows it.
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


_TALL = 150  # height in px of a panel of several


def valence_scatter(
    points: pd.DataFrame, evaluator: str, *, neutral: float = math.nan, names: Mapping[str, str] | None = None
) -> Figure:
    """One point a modifier of :class:`Geometry`, a panel a family: each family is held against its own baseline.

    ``neutral`` is the mean projection of the neutral words, where x is 0; NaN for none: x is the projection itself.
    ``opens`` where points can be clicked; ``names``: family -> the words for it above its panel.
    """
    known = not math.isnan(neutral)
    points = points.assign(x=points["projection"] - (neutral if known else 0.0))
    families = points["family"].astype(str)
    titles = families.map(lambda family: (names or {}).get(family, family))
    looks: dict[str, Any] = {"x": points["x"], "hover": [_hover(row) for row in points.to_dict("records")]}
    looks |= {"opens": points["opens"]} if "opens" in points else {}
    values = ("median_percent", "low", "high")
    frame = marks_of(points, points["modifier"].astype(str), evaluator, titles, values, **looks)
    return untitled(
        frame,
        "median % change",
        kind="scatter",
        unit=" %",
        height=_TALL if len(set(titles)) > 1 else 2 * _TALL,
        span=_span(points[["median_percent", "low", "high"]].assign(none=0.0), room=0.1),
        along=Axis(f"how good it sounds{', neutral = 0' if known else ''}", span=_span(points[["x"]], room=0.22)),
    )


def _span(values: pd.DataFrame, *, room: float) -> tuple[float, float]:
    """Ends of an axis that holds the values, with room for labels beside them."""
    there = values.to_numpy(dtype=np.float64)
    there = there[np.isfinite(there)]
    if not len(there):
        return -1.0, 1.0
    low, high = float(there.min()), float(there.max())
    pad = room * (high - low) or 0.05 * max(abs(high), 1.0)
    return low - pad, high + pad


def _hover(row: dict[Any, Any]) -> str:
    behind = f", over {int(row['n_objects'])} objects" if row["n_objects"] else ""
    bounds = f"95 % CI {row['low']:+.2f} to {row['high']:+.2f}" if row["low"] == row["low"] else "no interval"
    return (
        f"{row['modifier']}, {row['family']}\nsounds {row['x']:+.3f}{behind}\n"
        f"median % change {row['median_percent']:+.2f} % ({bounds}), n = {counted(int(row['n_items']))}"
    )
