"""Names that the tests of the pages share."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

HUMAN = "pages/human_validation.py"
FAILURES = "pages/failures.py"
LAB = "pages/probe_lab.py"
RESULTS = "pages/results.py"
COMPARE = "pages/compare.py"
OVERVIEW = "pages/overview.py"
RUN = "pages/run_audit.py"
FLIP_RISK = "pages/flip_risk.py"
SYSTEMS = "pages/systems.py"
CALIBRATION = "pages/calibration.py"
GEOMETRY = "pages/geometry.py"
CONTRAST = "pages/contrast_tests.py"
SUITES = "pages/suites.py"
VIDEO = "pages/video.py"
WORDS = "pages/words.py"
STORIES = "pages/stories.py"

Open = Callable[..., AppTest]


def texts(app: AppTest) -> str:
    """Everything that the page says, in one string."""
    kinds = ("markdown", "caption", "text", "info", "success", "warning", "error", "title", "header", "code")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(app, kind))


def said(app: AppTest) -> str:
    """Everything that the page says, without the marks that keep data from being markup."""
    return texts(app).replace("\\", "")
