"""What writes files and folders, each with the question whether the old or the new one is there, whole."""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import core.report.build  # noqa: F401  # imported once for every process that is forked
from core.__main__ import app
from core.audit.export import export_pairs
from core.corpora.demo import pictures_of
from core.errors import InvariscopeError
from core.evaluators.weights.download import download
from core.features.human.studies import Study
from core.jobs import job_queue
from core.jobs.request import AuditJob, audit_request
from core.settings import ROOT
from core.store.run_files import COMPLETE, read_run
from core.store.whole import verify
from core.writing import LEFTOVER
from siege.material import EVALUATOR, RUN, Material, plan
from siege.trials import Finding

SERVED = hashlib.sha256(b"weights").digest() * (1 << 16)
"""What is published under the address of weights, 2 MiB."""
OLD = b"old\n"
ITEMS = 4

State = str
"""``old``, ``new``, ``none``, or ``begun``: not complete, and the same call goes on with it."""


@dataclass
class Writer:
    """One thing that writes.

    Args:
        name: of the command, for the list.
        words: of its command line, ``HOME`` in place of the folder.
        out: path below that folder of what it writes.
        old: what stands there before, by path below ``out``; an empty path is the file itself.
        look: says of a path in what state it is; None: by comparison with what was written undisturbed.
        settings: environment; ``HOME`` as in ``words``.
        link: paths below the folder -> what they link to.
    """

    name: str
    words: tuple[str, ...]
    out: str
    old: Mapping[str, bytes] = field(default_factory=dict)
    look: Callable[[Path], State] | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    link: Mapping[str, Path] = field(default_factory=dict)
    whole: dict[str, str] = field(default_factory=dict)

    def prepare(self, home: Path) -> None:
        """Put the old thing there, and take away what is not it."""
        out = home / self.out
        home.mkdir(parents=True, exist_ok=True)
        for name, source in self.link.items():
            if not (home / name).is_symlink():
                (home / name).parent.mkdir(parents=True, exist_ok=True)
                (home / name).symlink_to(source)
        if self.look is not None and not self.old:
            if self.look(out) == "new":
                shutil.rmtree(out) if out.is_dir() else out.unlink()
            return
        if out.is_dir():
            shutil.rmtree(out)
        out.unlink(missing_ok=True) if not out.is_dir() else None
        for name, content in self.old.items():
            path = out / name if name else out
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def learn(self, home: Path) -> None:
        """Remember what is written when nothing disturbs."""
        self.whole = _digests(home / self.out)

    def state(self, home: Path) -> State:
        """Which of the two is there.

        Raises:
            Finding: if it is neither.
        """
        out = home / self.out
        found = _digests(out)
        if self.old and found == {name: _digest(content) for name, content in self.old.items()}:
            return "old"
        if not self.old and not os.path.lexists(out):
            return "none"
        if self.look is not None:
            return self.look(out)
        if not self.whole or found == self.whole:
            return "new"
        odd = sorted(set(found) ^ set(self.whole)) or [each for each in found if found[each] != self.whole[each]]
        raise Finding("lost", f"{out.name} is neither the old nor the new: {odd[:3]} of {len(self.whole)}")


def writers(made: Material, address: str) -> list[Writer]:
    """Every writer, over one run, one study and one story."""
    run, pairs, captions = str(made.run), _exported(made), _captions(made)
    study, story = made.study.name, made.story.name
    here = {"INVARISCOPE_DATA": "HOME/data"}
    demo = {"data/demo": ROOT / "data" / "demo", "data/runs": made.run.parent}
    folder = {"report.md": OLD, "index.html": OLD, "data/S1.csv": OLD, "mine.txt": OLD}
    file = {"": OLD}
    score = ("score", *captions, "--evaluator", EVALUATOR)
    audit = ("audit", "--corpus", "demo", "--limit", str(ITEMS), "--probes", "null", "--evaluators", EVALUATOR)
    scores = (
        "import-scores",
        str(pairs / "scores.json"),
        "--evaluator",
        "mine",
        "--fingerprint",
        "1",
        "--range",
        "0,1",
        "--run-id",
        "in",
        "--out",
        "HOME/runs",
    )
    learn = (
        "calibrate",
        "learn",
        str(ROOT / "data" / "results" / "demo"),
        "--evaluator",
        "conse-lite0",
        "--families",
        "rotation",
    )
    export = ("export-pairs", "--corpus", "demo", "--limit", "6", "--probes", "vflip", "-o", "HOME/out")
    return [
        Writer("publish", ("publish", run, "-o", "HOME/out.duckdb", "--overwrite"), "out.duckdb", file, _published),
        Writer(
            "report",
            ("report", run, "-o", "HOME/out", "--overwrite", "--no-encoders", "--format", "md,html"),
            "out",
            folder,
        ),
        Writer("story", ("stories", "html", story, "-o", "HOME/out.html", "--overwrite"), "out.html", file),
        Writer("card and pages", ("publish", run, "--html", "HOME/out", "--overwrite"), "out", folder),
        Writer("audit", (*audit, "--out", "HOME/runs", "--run-id", "in", "--resume"), "runs/in", look=_run),
        Writer("import-scores", scores, "runs/in", look=_run),
        Writer("export-pairs", export, "out", look=_export),
        Writer(
            "study create",
            ("study", "create", "new", "--run", RUN, "--total", "20", "--family", "vertical-flip"),
            "data/studies/new",
            look=_study,
            settings=here,
            link=demo,
        ),
        Writer("study export", ("study", "export", study, "-o", "HOME/out.csv"), "out.csv", file),
        Writer("job", ("PYTHON", "job"), "data/jobs/in", look=_job, settings=here, link=demo),
        Writer("calibrator", (*learn, "-o", "HOME/out.json"), "out.json", file, _calibrator),
        Writer("weights", ("PYTHON", "weights", address), "weights.bin", file),
        Writer("score", (*score, "-o", "HOME/out.json"), "out.json", file),
        Writer(
            "leaderboard",
            ("leaderboard", captions[0], "--images", captions[1], "--evaluators", EVALUATOR, "--out", "HOME/out"),
            "out",
            folder,
            settings=here,
        ),
    ]


def call(words: tuple[str, ...], settings: Mapping[str, str], home: Path, log: Path) -> None:
    """Call a writer in this process, which ends with its exit code; what it says goes into a log."""
    with log.open("wb") as said:
        for stream in (1, 2):
            os.dup2(said.fileno(), stream)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    os.environ.update({name: value.replace("HOME", str(home)) for name, value in settings.items()})
    given = [word.replace("HOME", str(home)) for word in words]
    try:
        if given[0] != "PYTHON":
            app(given, prog_name="python -m core")
        elif given[1] == "job":
            job_queue.start(_request(), work=False)
        else:
            download(given[2], home / "weights.bin", sha256=_digest(SERVED))
    except InvariscopeError as error:
        sys.stderr.write(f"error: {error}\n")
        raise SystemExit(2) from error
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def _request() -> AuditJob:
    return audit_request(
        corpus="demo", probes=("null",), evaluators=(EVALUATOR,), limit=ITEMS, run_id="in", device="cpu"
    )


def _exported(made: Material) -> Path:
    """Pairs of the run with a score for each, for who reads them back."""
    folder = export_pairs(plan(), made.data.parent / "pairs")
    told = {pair.id: 0.5 for pair in folder.pairs()}
    (folder.path / "scores.json").write_text(json.dumps(told), encoding="utf-8")
    return folder.path


def _captions(made: Material) -> tuple[str, str]:
    """A file of candidates, and the folder of their pictures."""
    images = made.data.parent / "images"
    images.mkdir()
    chosen = sorted((pictures_of(ROOT / "data" / "demo") / "images").glob("*"))[:ITEMS]
    for path in chosen:
        shutil.copyfile(path, images / path.name)
    file = made.data.parent / "captions.json"
    file.write_text(json.dumps({path.stem: f"There is {path.stem}." for path in chosen}), encoding="utf-8")
    return str(file), str(images)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digests(out: Path) -> dict[str, str]:
    if out.is_file():
        return {"": _digest(out.read_bytes())}
    files = [path for path in out.rglob("*") if path.is_file() and LEFTOVER not in str(path)]
    return {path.relative_to(out).as_posix(): _digest(path.read_bytes()) for path in files}


def _sound(path: Path) -> None:
    if problems := [each for verdict in verify(path) for each in verdict.problems]:
        raise Finding("lost", problems[0])


def _published(out: Path) -> State:
    _sound(out)
    return "new"


def _run(out: Path) -> State:
    if not (out / "manifest.json").is_file():
        return "begun" if out.exists() else "none"
    if read_run(out).status != COMPLETE:
        return "begun"
    _sound(out)
    return "new"


def _export(out: Path) -> State:
    told = out / "plan.json"
    if not told.is_file():
        return "begun" if out.exists() else "none"
    return "new" if json.loads(told.read_text(encoding="utf-8")).get("status") == COMPLETE else "begun"


def _study(out: Path) -> State:
    if not out.exists():
        return "none"
    return "new" if Study(out).state().status == "open" else "begun"


def _job(out: Path) -> State:
    if not (out / "job.json").is_file():
        return "begun" if out.exists() else "none"
    return "new"


def _calibrator(out: Path) -> State:
    return "new" if json.loads(out.read_text(encoding="utf-8")) else "none"
