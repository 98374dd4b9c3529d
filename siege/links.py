"""Links with parameters that nobody would type, through every page of the dashboard."""

import json
import random
from functools import partial

from streamlit.testing.v1 import AppTest

from core.features import feature
from core.settings import ROOT
from siege.material import RUN, Material, data_folder
from siege.trials import Finding, Tally

NAMES = (
    "run", "runs", "item", "probe", "probes", "evaluators", "evaluator", "subject", "language", "corpus", "root",
    "options", "file", "folder", "token", "key", "story", "page", "sort", "limit", "family", "find", "a", "b", "slide",
    "upload", "name", "caption", "study", "filters", "seed", "lambda", "images", "suite", "video",
)  # fmt: skip
VALUES = (
    "", " ", "\0", "-1", "0", "1e999", "NaN", "9" * 400, "x" * 5000, "../../etc/passwd", "/proc/self/environ",
    "/dev/zero",
    "<script>alert(1)</script>", "'; drop table scores; --", "{0.__class__}", "\u202eabc", "%00", "a,b,,c", "[]", "{}",
    "null", "true", "🐈" * 50, "=1+1", "$(id)", "~root", "javascript:alert(1)", "vflip", RUN, "\ufffd",
)  # fmt: skip

SLOW = ("probe_lab", "video")
"""Pages whose first reader waits for models."""

LINKS = 64
"""Links that are tried, spread evenly over the pages."""


def run(tally: Tally, seed: int, *, quick: bool) -> None:
    """Open pages under strange links, in one process as one server would."""
    rng = random.Random(f"{seed}/links")
    pages = [page for page in (each.name for each in feature.views()) if not quick or page not in SLOW][
        : 3 if quick else None
    ]
    with data_folder() as data:
        assert Material(data).run.is_dir()
        for page in pages:
            open_page(
                page, {}
            )  # the first reader of a page waits for its models; a strange link may not take that long
        for number in range(3 if quick else LINKS):
            page = pages[number % len(pages)]
            query = {name: rng.choice(VALUES) for name in rng.sample(NAMES, rng.choice((1, 3, 8)))}
            told = f"{page}?{json.dumps(query)[:160]}"
            tally.attempt(told, partial(open_page, page, query))


def open_page(page: str, query: dict[str, str]) -> None:
    """Open a page of the dashboard under a query.

    Raises:
        Finding: if it ends in a traceback, or is empty.
    """
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    file, first = feature.address(page)
    app.switch_page(file)
    app.query_params.update(first)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    if app.exception:
        raise Finding("traceback", str(app.exception[0].value)[:500])
    if not app.title:
        raise Finding("silent", "the page is empty")
