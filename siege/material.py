"""A data folder with one of everything that Invariscope keeps, made anew for every campaign."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from core import settings
from core.audit.plan import Plan, make_plan
from core.audit.request import AuditRequest
from core.audit.run import run_audit
from core.corpora.registry import catalogue
from core.evaluators.network.asking import Journal
from core.evaluators.network.rubrics import Verdict
from core.evaluators.pool import Pool
from core.features.human.creation import create_study
from core.features.human.studies import Study
from core.jobs import job_queue
from core.jobs.request import audit_request
from core.store.publishing import publish
from core.store.store import Store
from core.stories.story import Picture, Slide, Story

EVALUATOR = f"{Path(__file__).with_name('colours.py')}:Colours"
PROBES = ("vflip", "hflip", "null")
ITEMS = 40
SHARD_ITEMS = 2
RUN = "siege"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'></svg>"


def plan() -> Plan:
    """The audit of the campaign: small, of many shards."""
    return make_plan(
        catalogue().get("demo").load(None),
        AuditRequest.of(corpus="demo", evaluators=(EVALUATOR,), probes=PROBES, limit=ITEMS),
        shard_items=SHARD_ITEMS,
        batch_size=4,
    )


@contextmanager
def data_folder() -> Iterator[Path]:
    """A data folder for this process that holds the demo corpus alone, away when it is left."""
    before = os.environ.get("INVARISCOPE_DATA")
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        data.mkdir()
        (data / "demo").symlink_to(settings.ROOT / "data" / "demo")
        os.environ["INVARISCOPE_DATA"] = str(data)
        os.environ["INVARISCOPE_CACHE"] = str(Path(folder) / "cache")
        os.environ["INVARISCOPE_WEIGHTS"] = str(Path(folder) / "weights")
        try:
            yield data
        finally:
            os.environ.pop("INVARISCOPE_DATA")
            if before is not None:
                os.environ["INVARISCOPE_DATA"] = before


@dataclass
class Material:
    """What lies in a data folder; each part is made when it is first asked for.

    Args:
        data: the folder; INVARISCOPE_DATA names it.
    """

    data: Path

    @cached_property
    def run(self) -> Path:
        """Folder of a complete, sealed run."""
        return run_audit(plan(), self.data / "runs", run_id=RUN, pool=Pool(2000, "cpu")).path

    @cached_property
    def published(self) -> Path:
        """That run as one file."""
        return publish([self.run], self.data.parent / "published.duckdb")

    @cached_property
    def study(self) -> Path:
        """Folder of a study with two annotators and votes."""
        with Store.open(self.run) as store:
            study = create_study(
                store,
                RUN,
                study_id="siege",
                title="Siege",
                kind="acceptability",
                total=60,
                per_item=2,
                attention_rate=0.0,
                seed=1,
                parent=self.data / "studies",
            )
        for name in study.invite(["Ada", "Bo"]):
            for item in study.definition.items:
                study.answer(name, item.id, "A", 2, seen=0, seconds=2.0)
        return study.folder

    @cached_property
    def story(self) -> Path:
        """Folder of a story of three slides."""
        story = Story.create("Siege", parent=self.data / "stories")
        for number in range(3):
            story.add(slide(f"Slide {number}"))
        return story.folder

    @cached_property
    def journal(self) -> Path:
        """A judge's answers, twenty of them."""
        path = self.data / "judge" / "answers.jsonl"
        journal = Journal(path)
        for number in range(20):
            journal.add(key(number), Verdict(score=float(number % 11), reason=f"because {number}"))
        return path

    @cached_property
    def job(self) -> Path:
        """Folder of a job that waits; nobody works."""
        asked = audit_request(
            corpus="demo", probes=PROBES, evaluators=(EVALUATOR,), limit=ITEMS, run_id="waiting", device="cpu"
        )
        return job_queue.start(asked, work=False).folder


def key(number: int) -> str:
    """Key of an answer in the judge's journal."""
    return f"{number:064x}"


def slide(title: str) -> Slide:
    """A slide with two pictures."""
    return Slide(
        title,
        said=("a cat",),
        pictures=(Picture("a cat", "png", PNG + title.encode()), Picture("x", "svg", SVG)),
        columns=("Evaluator", "% change"),
        rows=(("colours", "−12 %"),),
        of="run demo",
        page="failures",
        link={"item": "cat"},
    )


def copied(folder: Path, to: Path) -> Path:
    """A copy of a folder or file, over what lay there."""
    if to.is_dir():
        shutil.rmtree(to)
    if folder.is_file():
        to.parent.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(folder, to))
    return Path(shutil.copytree(folder, to))


def votes_of(folder: Path) -> str:
    """Everything that a study's votes say, as text that is equal where they are."""
    entries = Study(folder).state().entries
    return json.dumps([[*map(str, at), entry.answers, str(entry.skipped)] for at, entry in sorted(entries.items())])
