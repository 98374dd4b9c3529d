"""Columns of the stored tables, in one place: the run writes them, the store and the analysis read them."""

import pyarrow as pa

SCHEMA_VERSION = 1
"""Raised when a column changes its meaning; the store refuses what is newer than itself."""

SCORES = pa.schema(
    [
        ("run", pa.string()),
        ("corpus", pa.string()),
        ("item", pa.string()),
        ("label", pa.string()),
        ("category", pa.string()),
        ("coverage", pa.float64()),
        ("coverage_bin", pa.string()),
        ("axis", pa.string()),  # null for the identity row
        ("family", pa.string()),
        ("probe", pa.string()),
        ("modifier", pa.string()),
        ("control", pa.bool_()),
        ("expectation", pa.string()),
        ("subject", pa.string()),  # which caption is held: "template" or "human"
        ("caption", pa.string()),  # the text that was scored
        ("baseline", pa.string()),  # name of the probe whose row, same item, subject, evaluator, is the baseline
        ("evaluator", pa.string()),
        ("score", pa.float64()),  # null where the evaluator could not score; then `error` says why
        ("error", pa.string()),
        ("object_inside", pa.float64()),  # share of the object inside the evaluator's crop, 0..1
        ("truncated", pa.bool_()),  # the text tower cut the caption
        ("bg_delta", pa.float64()),
        ("seam_energy", pa.float64()),
        ("seam_ratio", pa.float64()),
    ]
)

ITEMS = pa.schema(
    [
        ("run", pa.string()),
        ("corpus", pa.string()),
        ("item", pa.string()),
        ("image", pa.string()),  # path below the corpus root, or absolute
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("label", pa.string()),
        ("category", pa.string()),
        ("coverage", pa.float64()),
        ("coverage_bin", pa.string()),
        ("bytes_sha256", pa.string()),
        ("pixels_sha256", pa.string()),
        ("licence", pa.string()),
        ("source", pa.string()),
    ]
)

REJECTIONS = pa.schema(
    [
        ("run", pa.string()),
        ("corpus", pa.string()),
        ("item", pa.string()),
        ("probe", pa.string()),  # null where the whole item was left out
        ("code", pa.string()),
        ("detail", pa.string()),
    ]
)

SCHEMAS = {"scores": SCORES, "items": ITEMS, "rejections": REJECTIONS}
"""Stored table -> its columns."""

VERDICTS = pa.schema(
    [
        ("corpus", pa.string()),
        ("item", pa.string()),
        ("probe", pa.string()),
        ("subject", pa.string()),
        ("accepted", pa.float64()),  # share of the voting people who found both versions acceptable, 0..1
        ("votes", pa.int32()),
    ]
)
"""People's verdicts on the pairs that a probe makes; see the store's view ``verdicts``."""

SHIFT_FLOOR = 1e-6
"""Baselines with |score| below this have no percent change; they are counted. Source: PROTOCOL section 3."""
