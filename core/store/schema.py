"""Columns of the stored tables, in one place: the run writes them, the store and the analysis read them."""

from typing import NamedTuple

import pyarrow as pa

SCHEMA_VERSION = 4
"""Raised when a column comes or changes its meaning; the store refuses what is newer and reads what is older."""


def _texts(*names: str) -> list[tuple[str, pa.DataType]]:
    return [(name, pa.string()) for name in names]


SCORES = pa.schema(
    [
        *_texts("run", "corpus", "item", "label", "category"),
        ("coverage", pa.float64()),
        ("coverage_bin", pa.string()),
        ("axis", pa.string()),  # null for the identity row
        *_texts("family", "probe", "modifier"),
        ("control", pa.bool_()),
        ("expectation", pa.string()),
        ("subject", pa.string()),  # which caption is held: "template" or "human"
        ("language", pa.string()),  # ISO 639-1 code of that caption
        ("rank", pa.int32()),  # which of the item's captions in that language, from 0
        ("caption", pa.string()),  # the text that was scored
        ("baseline", pa.string()),  # probe whose row is the baseline: same item, subject, language, rank, evaluator
        ("evaluator", pa.string()),
        ("score", pa.float64()),  # null where the evaluator could not score; then `error` says why
        ("error", pa.string()),
        ("object_inside", pa.float64()),  # share of the object inside the evaluator's crop, 0..1
        ("truncated", pa.bool_()),  # the text tower cut the caption
        *((name, pa.float64()) for name in ("bg_delta", "seam_energy", "seam_ratio")),
        ("fill_ratio", pa.float64()),  # gradient inside the filled hole over that of its rim; 1: alike
        ("texture_ratio", pa.float64()),  # local variance inside the filled hole over that of its rim; 1: alike
        ("object_kept", pa.float64()),  # share of the object's mask that the edit left in the image, 0..1
    ]
)

ITEMS = pa.schema(
    [
        *_texts("run", "corpus", "item"),
        ("image", pa.string()),  # path below the corpus root, or absolute
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("label", pa.string()),
        ("category", pa.string()),
        ("coverage", pa.float64()),
        ("coverage_bin", pa.string()),
        *_texts("bytes_sha256", "pixels_sha256", "licence", "source"),
        ("item_group", pa.string()),  # items of one source (a cut-out, a photograph) are resampled and split together
        ("second_group", pa.string()),  # a second source that crosses the first (a background, a captioner); else null
    ]
)

REJECTIONS = pa.schema(
    [
        *_texts("run", "corpus", "item"),
        ("probe", pa.string()),  # null where the whole item was left out
        ("code", pa.string()),
        ("detail", pa.string()),
    ]
)

VARIANTS = pa.schema(
    [
        *_texts("run", "corpus", "item", "probe", "subject", "language"),
        ("rank", pa.int32()),
        ("key", pa.string()),  # what is told of the variant, e.g. "modifier" or "tries"
        ("value", pa.string()),
    ]
)
"""Facts of a variant, one a row, as the probe that made it tells them; the unedited item's are those of its owner."""

SCHEMAS = {"scores": SCORES, "items": ITEMS, "rejections": REJECTIONS, "variants": VARIANTS}
"""Stored table -> its columns."""


class Added(NamedTuple):
    """A column that came later."""

    since: int  # first version that has it
    means: str | int | None  # what rows of an older version mean there; None: it was not measured, null


ADDED: dict[tuple[str, str], Added] = {
    ("scores", "language"): Added(2, "en"),
    ("scores", "rank"): Added(2, 0),
    ("scores", "fill_ratio"): Added(2, None),
    ("scores", "texture_ratio"): Added(3, None),
    ("scores", "object_kept"): Added(2, None),
    ("items", "item_group"): Added(2, None),
    ("items", "second_group"): Added(4, None),
}
"""(table, column) that an older version lacks -> since when it is there, and what it means before."""

_TABLE_SINCE = {"variants": 2}


def schemas_of(version: int) -> dict[str, pa.Schema]:
    """Stored tables of a version -> their columns, e.g. ``schemas_of(1)`` knows no ``variants``."""

    def there(table: str, name: str) -> bool:
        return (table, name) not in ADDED or ADDED[table, name].since <= version

    return {
        table: pa.schema([field for field in schema if there(table, field.name)])
        for table, schema in SCHEMAS.items()
        if _TABLE_SINCE.get(table, 1) <= version
    }


VERDICTS = pa.schema(
    [
        *_texts("corpus", "item", "probe", "subject", "language"),
        ("rank", pa.int32()),
        ("accepted", pa.float64()),  # share of the voting people who found both versions acceptable, 0..1; else null
        ("upheld", pa.float64()),  # of a comparison: share of them who uphold it, 0..1; of another pair null
        ("votes", pa.int32()),
    ]
)
"""People's verdicts on the pairs that a probe makes; see the store's view ``verdicts``."""
