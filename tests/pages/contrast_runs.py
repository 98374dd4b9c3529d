"""Runs for the page Contrast tests: one whose human captions were broken, beside a larger one of the template alone."""

from core.settings import results_dir
from tests.analysis.broken_runs import facts_of, rows_of, write_broken
from tests.analysis.made_runs import audited, write_run

FACTS = facts_of(
    ["denied"],
    {
        "falsity": ["verified", "presumed"],
        "kind": ["near", "far"],
        "knob": ["count", "colour", "colour"],
        "domain": ["animal", "object"],
    },
)


def write_both_halves() -> None:
    """Write ``broken`` and ``template`` into the dashboard's folder of results."""
    rows = rows_of(("e", "flat"))
    for row in rows:
        row["category"] = "animal" if row["item"] < "i012" else "food"
    write_broken(results_dir() / "broken", rows, facts=FACTS)
    more = audited("vflip", "hflip", "rotate-5", "rotate+5", "gender:boy", "gender:girl", items=60)
    write_run(results_dir() / "template", more, corpus={"name": "c"})
