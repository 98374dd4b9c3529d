"""What all sessions share of the studies: open logs, loaded corpora, finished pictures."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import streamlit as st

from core.corpora.schema import Corpus, Origin
from core.errors import InvariscopeError
from core.human.definition import DEFINITION, Example, StudyItem
from core.human.pictures import Pictures, load_corpus, make_example, make_pictures
from core.human.prolific import Visit, participant, recruits
from core.human.studies import Refused, Study, studies_dir
from pages.views.common.caches import Shelf


class Desk:
    """The studies of one folder, each opened once; safe between threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._studies: dict[str, Study] = {}
        self._corpora: Shelf[Corpus] = Shelf(3)
        self._pictures: Shelf[Pictures] = Shelf(96)
        self._ahead = ThreadPoolExecutor(max_workers=1, thread_name_prefix="study-pictures")
        self._problems: tuple[str, ...] = ()

    def studies(self) -> dict[str, Study]:
        """Every study by id, with those that another process made."""
        with self._lock:
            names = sorted(path.parent.name for path in self._folder.glob(f"*/{DEFINITION}"))
            problems = []
            for name in names:
                if name not in self._studies:
                    try:
                        self._studies[name] = Study(self._folder / name)
                    except InvariscopeError as error:
                        problems.append(str(error))
            self._studies = {name: self._studies[name] for name in names if name in self._studies}
            self._problems = tuple(problems)
            return dict(self._studies)

    def problems(self) -> tuple[str, ...]:
        """Sentences about studies that cannot be opened."""
        return self._problems

    def whose(self, token: object, visit: Visit | None = None) -> tuple[Study, str | None]:
        """Study and annotator of a link; no annotator yet for who comes from Prolific for the first time.

        Args:
            token: of an annotator, or of a study's link for Prolific.
            visit: what Prolific put into the link.

        Raises:
            Refused: if it is nobody's, or a personal link was given to Prolific.
        """
        for study in self.studies().values():
            if recruits(study, token):
                return study, participant(study, visit)
            with suppress(Refused):
                annotator = study.annotator_of(token)
                break
        else:
            raise Refused("This link is not valid, or not any more; ask the person who sent it to you for a new one.")
        if visit is not None:
            raise Refused(
                "This is the personal link of one annotator, so nothing was stored of you. Please tell the "
                "researcher through Prolific that they need the study's link for Prolific."
            )
        return study, annotator

    def pictures(self, study: Study, item: StudyItem) -> Pictures:
        """Pictures of an item, made once.

        Raises:
            NotAvailable: if they cannot be made any more.
        """
        key = (study.id, item.corpus, item.item, item.probe)
        return self._pictures.get_or(key, lambda: make_pictures(study.definition, item, load=self._load))

    def example(self, study: Study, example: Example) -> bytes:
        """Picture of a worked example.

        Raises:
            NotAvailable: if it is not here any more.
        """
        return make_example(study.definition, example.corpus, example.item, load=self._load)

    def make_ahead(self, study: Study, items: tuple[StudyItem, ...]) -> None:
        """Make pictures while the annotator looks at others."""
        for item in items:
            self._ahead.submit(self._quietly, study, item)

    def corpus(self, origin: Origin) -> Corpus:
        """Read a corpus once.

        Raises:
            InvariscopeError: if it cannot be read.
        """
        return self._load(origin)

    def _quietly(self, study: Study, item: StudyItem) -> None:
        try:
            self.pictures(study, item)
        except InvariscopeError:  # told when the item is shown
            return

    def _load(self, origin: Origin) -> Corpus:
        key = (origin.loader, origin.root, tuple(sorted(origin.options.items())))
        with self._lock:
            return self._corpora.get_or(key, lambda: load_corpus(origin))


def desk() -> Desk:
    """The desk of this server's data folder."""
    return _desk(studies_dir())


@st.cache_resource(show_spinner=False, max_entries=2)
def _desk(folder: Path) -> Desk:
    return Desk(folder)
