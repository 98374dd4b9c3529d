"""What the Probe lab shows of one variant as a slide of a story."""

from collections.abc import Mapping

from core.charts.canvas import jpeg, thumbnail
from core.charts.style import signed
from core.corpora.stacks import as_picture
from core.probes.base import Variant
from core.probes.titles import title
from core.scoring.lab_result import LabResult, LabRow
from core.scoring.workbench import Workbench
from core.stories.slide import Picture, Slide
from pages.views.common.links import LAB
from pages.views.common.text import number
from pages.views.failures.failure_pictures import LARGE

COLUMNS = ("Evaluator", "Score", "%Δ", "Null band, ±", "")


def variant_slide(
    bench: Workbench, result: LabResult, variants: Mapping[str, Variant], name: str, link: Mapping[str, str]
) -> Slide:
    """The picture, one variant of it, and what every evaluator makes of both.

    Args:
        bench: with the picture.
        result: what the lab scored.
        variants: by probe.
        name: of the probe.
        link: parameters of the lab's link.
    """
    variant, what = variants[name], bench.item.label or "the picture"
    sides = [Picture(f"{what}, as it is", "jpg", jpeg(thumbnail(as_picture(bench.pixels), side=LARGE)))]
    if variant.pixels is not None:
        small = thumbnail(as_picture(variant.pixels), side=LARGE)
        sides.append(Picture(f"{what}: {title(name).lower()}", "jpg", jpeg(small)))
    rows = {row.evaluator: row for row in result.rows if row.probe == name}
    first = rows[result.evaluators[0]]
    before, after = first.baseline_caption, first.caption or result.caption
    said = f"“{after}”" if before in (None, after) else f"“{before}” → “{after}”"
    made = ", ".join(f"{each} ({_digits(result, each)})" for each in result.evaluators)
    return Slide(
        f"{title(name)}: {what}", (said[:400],), tuple(sides), COLUMNS,
        tuple(_row(result, rows[each]) for each in result.evaluators),
        f"Scored in the Probe lab by {made}; one picture, probe {name}, seed {result.seed}"[:400], "", LAB, dict(link),
    )  # fmt: skip


def _digits(result: LabResult, evaluator: str) -> str:
    return str(result.fingerprints[evaluator]["key"])[:8]


def _row(result: LabResult, row: LabRow) -> tuple[str, ...]:
    band = result.bands[row.evaluator].reach
    where = "" if row.in_null_band is None else "within the null band" if row.in_null_band else "outside the null band"
    if row.dropped is not None:
        where = "the meaning is broken; " + ("it drops" if row.dropped else "it does not drop")
    moved = "—" if row.percent is None else signed(row.percent)
    return (row.evaluator, f"{number(row.baseline_score)} → {number(row.score)}", moved,
            "—" if band != band else f"{number(band, digits=1)} %", where)  # fmt: skip
