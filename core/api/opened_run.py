"""A stored run and what it answers: the same tables and reports as the pages and the command line give."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from core import settings
from core.errors import InvalidInput, StoreError, UnknownName

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.scope import Narrowed, Scope
    from core.analysis.table import ScoreTable
    from core.report.document import Report
    from core.store.run_files import Run as Stored
    from core.store.store import Store


def place(reference: str) -> Path:
    """Where a run lies that was given by id or by path. Raises InvalidInput where there is none."""
    from core.corpora.ordinary_paths import ordinary
    from core.store.run_files import list_runs, run_folders

    if ordinary(Path(reference)).exists():
        return Path(reference)
    for folder in (settings.runs_dir(), settings.results_dir()):
        for path in run_folders(folder):
            if path.name == reference:
                return path
    known = ", ".join(run.id for run in list_runs()) or "none yet"
    raise InvalidInput(f"no run {reference!r} here; there are: {known}")


HEADLINE = "S1"  # id of the question whose answer comes first: every family that should not matter
_log = logging.getLogger("invariscope.api")


def open_run(reference: Path | str, *, run: str | None = None) -> "Run":
    """Open a run of before. ``reference``: its id, or the path of its folder or of a published ``.duckdb`` file.
    ``run``: its id, where a file or folder has several.
    Raises InvalidInput if there is no such run, or there are several and none is named; StoreError if it cannot be
    read; names the file."""
    from core.store.store import Store

    store = Store.open(place(str(reference)))
    found = store.runs()
    for problem in store.problems:
        _log.warning("%s", problem)
    if not found:
        raise StoreError(store.problems[0] if store.problems else f"{reference} holds no run")
    chosen = [each for each in found if run in (None, each.id)]
    if len(chosen) != 1:
        raise InvalidInput(f"{reference} holds the runs {', '.join(each.id for each in found)}; name one with run=…")
    return Run(store, chosen[0])


def listed(given: str | Iterable[str]) -> tuple[str, ...]:
    """Names in their order; one alone needs no list."""
    return (given,) if isinstance(given, str) else tuple(given)


class Chosen(TypedDict, total=False):
    """What the numbers of a run are of, by the names of :meth:`Run.table` and others.
    ``subject``: ``template`` or ``human``. ``language``: of the captions, e.g. ``en``.
    ``evaluators``: names; none: all.
    ``where``: ``column=value`` of the table beside the pictures, e.g. ``site=hospital``: any of the values that are
    given of a column, and every column; none: all items."""

    subject: str | None
    language: str | None
    evaluators: str | Iterable[str]
    where: str | Iterable[str]


class Run:
    """One run, opened; made by :func:`open_run` and by :func:`core.api.auditing.audit`. Every number is of one scope:
    one subject (the caption that is held), one language, and some evaluators, as :class:`Chosen` names them. What is
    not chosen is usual: the subject and the language with the most shifts, and every evaluator. Answers are those of
    the run as it was when it was opened."""

    def __init__(self, store: "Store", stored: "Stored") -> None:
        self._store, self._stored = store, stored
        self._tables: dict[tuple[object, ...], ScoreTable] = {}

    @property
    def id(self) -> str:
        """Its name, as in the column ``run``."""
        return self._stored.id

    @property
    def path(self) -> Path:
        """Its folder, or the published file that holds it."""
        return self._stored.path

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What it says of itself: corpus, evaluators with their fingerprints, probes, versions, counts."""
        return self._stored.manifest

    def __repr__(self) -> str:
        told = self.manifest
        names = ", ".join(str(each.get("name")) for each in told.get("evaluators", ()))
        counts = told["counts"]
        scores = f"{counts['rows']:,} scores, {counts['scores_null']:,} null, " if "rows" in counts else ""
        return f"<Run {self.id}: {self._stored.status}, {scores}corpus {told['corpus'].get('name')}, {names}>"

    def table(
        self,
        question: str | None = None,
        *,
        margin: float | None = None,
        family: str | None = None,
        **chosen: Unpack[Chosen],
    ) -> "pd.DataFrame":
        """The answer to a question, as Findings, Figures, draws it and a report writes it.
        ``question``: an id of :meth:`questions`; None: HEADLINE, and of runs that only break meanings how often that
        goes unnoticed. ``margin``: of equivalence, in percent; None: that of the reports.
        ``family``: of a question that is of one family; None: its first.
        Returns a frame with bare numbers, shifts in percent; the columns are those of the report's ``data/ID.csv``.
        Raises UnknownName if there is no such question; InvalidInput if the scores cannot answer it, with the reason.
        """
        from core.analysis.questions import Options, catalogue
        from core.analysis.questions.directional import RATES
        from core.report.build import NO_ROW, ask

        scores = self._table(**chosen)
        asked = {each.id: each for each in catalogue(scores)}
        if question is not None and question not in asked:
            raise UnknownName(f"no question is named {question!r}; there are: {', '.join(asked)}")
        wanted = (HEADLINE, RATES) if question is None else (question,)
        given = {name: value for name, value in (("margin", margin), ("family", family)) if value is not None}
        options = replace(Options(), **given)  # type: ignore[arg-type]  # each of its own type
        for name in wanted:
            frame = ask(scores, [asked[name]], options).get(name)
            if frame is not None and len(frame):
                return frame
        why = asked[wanted[0]].needs(scores) or NO_ROW
        raise InvalidInput(f"run {self.id} cannot answer {wanted[0]}: {why}")

    def questions(self, **chosen: Unpack[Chosen]) -> "pd.DataFrame":
        """What :meth:`table` can be asked, in the order of Findings, Figures.
        Returns one row a question: id, title, section, paper (its counterpart there), missing (why the scores cannot
        answer it; empty where they can), note (how to read its answer)."""
        import pandas as pd

        from core.analysis.questions import catalogue

        scores = self._table(**chosen)
        rows = [(q.id, q.title, q.section, q.paper, q.needs(scores), q.note) for q in catalogue(scores)]
        return pd.DataFrame(rows, columns=["id", "title", "section", "paper", "missing", "note"])

    def scores(self) -> "pd.DataFrame":
        """Every stored row, of all subjects and languages: columns as in :data:`core.store.schema.SCORES`."""
        return self._rows("scores")

    def shifts(self) -> "pd.DataFrame":
        """Every row that has a baseline, with baseline_score, baseline_caption, delta and percent beside the score."""
        return self._rows("shifts")

    def left_out(self) -> "pd.DataFrame":
        """Items and variants that have no row: item, probe (empty: the whole item), code, detail, meaning."""
        from core.probes.rejections import meaning

        rows = self._store.query(
            "select item, coalesce(probe, '') as probe, code, detail from rejections where run = ? order by all",
            [self.id],
        )
        return rows.assign(meaning=[meaning(str(code)) for code in rows["code"]])

    def signature(self, **chosen: Unpack[Chosen]) -> str:
        """The line that says what the numbers depend on, to be cited beside them."""
        from core.report.document import signature_of

        return signature_of(self._table(**chosen), self._store.runs())

    def report(
        self,
        folder: Path | str | None = None,
        *,
        formats: str | Iterable[str] = (),
        tables: str = "paper",
        encoders: bool = True,
        drawings: bool = False,
        overwrite: bool = False,
        **chosen: Unpack[Chosen],
    ) -> Path:
        """Write the report: a page in words, a figure, the papers' tables, their data, the signature to cite.
        ``folder``: to be filled; None: ``report-RUN`` here.
        ``formats``: of ``md``, ``html``, ``latex``; none: all three.
        ``tables``: what is written as data: ``paper``, the papers' tables and what the words are made of, or ``all``.
        ``encoders``: of all tables: ask the evaluators' text encoders for the geometry, which loads their weights.
        ``drawings``: the figure of every table that is written too. Returns the folder.
        Raises InvalidInput if the folder cannot be filled, or a format or ``tables`` is not known."""
        from core.report.document import FORMATS
        from core.report.report_files import write
        from core.writing import check_empty

        if tables not in ("paper", "all"):
            raise InvalidInput(f"tables are paper or all, got {tables!r}")
        target = check_empty(Path(f"report-{self.id}" if folder is None else folder), overwrite=overwrite)
        scope = self._table(**chosen).scope
        made = report_of(self._store, scope, whole=tables == "all", drawings=drawings, encoders=encoders)
        write(made, target, formats=listed(formats) or tuple(FORMATS))
        return target

    def _table(
        self,
        subject: str | None = None,
        language: str | None = None,
        evaluators: str | Iterable[str] = (),
        where: str | Iterable[str] = (),
    ) -> "ScoreTable":
        from core.analysis.reading import read_table
        from core.analysis.scope import Scope
        from core.analysis.slices import told_of

        names, told = listed(evaluators), told_of([where] if isinstance(where, str) else where)
        key = (subject, language, names, told)
        if key not in self._tables:
            scope = Scope((self.id,), subject=subject, language=language, evaluators=names, told=told)
            self._tables[key] = read_table(self._store, scope)
        return self._tables[key]

    def _rows(self, view: str) -> "pd.DataFrame":
        order = "corpus, item, subject, language, rank, evaluator, probe"
        return self._store.query(f"select * from {view} where run = ? order by {order}", [self.id])


def report_of(
    store: "Store",
    scope: "Narrowed | Scope",
    *,
    whole: bool,
    drawings: bool,
    encoders: bool,
    note: Callable[[str], object] = _log.warning,
) -> "Report":
    """Build the report of some runs beside the studies, suites and boards that this machine holds.
    ``whole``, ``drawings``: as :func:`core.report.build.build` takes them. ``encoders``: ask the text encoders.
    ``note``: hears of each study, suite or board that cannot be read."""
    from core.evaluators.pool import Pool
    from core.features.geometry.geometry import embed
    from core.features.human.studies import list_studies
    from core.features.suites.suite_result import stored
    from core.features.systems.system_file import kept
    from core.report.build import build

    (studies, unread), (suites, broken), boards, pool = list_studies(), stored(), kept(), Pool()
    for problem in (*unread, *broken, *boards.unread.values()):
        note(problem)
    ask = (lambda name, texts: embed(pool, name, texts)) if encoders else None
    return build(store, scope, whole=whole, figures=drawings, studies=studies, suites=suites, boards=boards, encode=ask)
