"""The figure of a long life: ``python -m siege.course CAMPAIGN.json FIGURE.svg``, from what ``--json`` wrote."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from core.charts.spec import Axis, Figure
from core.charts.still import drawing


def figure(course: Sequence[tuple[float, int, float]]) -> Figure:
    """Memory and guests over time.

    Args:
        course: (seconds since 1970, guests who are there, MB that the server and its processes hold), in order.
    """
    begun = course[0][0]
    rows = [
        {"panel": panel, "label": (at - begun) / 60, "series": panel, "value": value}
        for at, here, mb in course
        for panel, value in (("Guests", float(here)), ("MB", mb))
    ]
    frame = pd.DataFrame(rows).assign(low=float("nan"), high=float("nan"), n=1)
    return Figure(
        "life", "", "", frame, "", kind="lines", free=True, span=(0, None), along=Axis("Minutes"), bounds="none"
    )


if __name__ == "__main__":
    told = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Path(sys.argv[2]).write_bytes(drawing(figure(next(each["course"] for each in told["kinds"] if each["course"]))))
