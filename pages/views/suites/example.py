"""An example of a suite, started by a reader's click: demo captions beside the same with a wrong object."""

from core.corpora.demo import demo_dir
from core.jobs.suite import SuiteRequest, suite_request
from core.settings import ROOT
from pages.views.probe_lab.state import default_evaluators

FILE = ROOT / "assets" / "examples" / "demo-foils.json"
"""Made by ``tools/example_suite.py``."""

NAME = "Demo foils"
"""What its suite is called."""

SAID = (
    "This is an example: a foil is wrong by construction, as it names what the picture does not show. Nobody was "
    "asked, so what stands below is no agreement with people."
)


def example_request() -> SuiteRequest | None:
    """The job of the example; None where no usual evaluator is ready here, or the demo corpus is gone."""
    pictures = demo_dir() / "images"
    names = tuple(default_evaluators())
    if not names or not pictures.is_dir() or not FILE.is_file():
        return None
    return suite_request(files=(str(FILE),), images=(str(pictures.absolute()),), evaluators=names)
