"""How ``suite`` reads, scores and prints."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from core.commands._shared import note, table
from core.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.questions.question import Column
    from core.analysis.suite_result import Reached, SuiteResult
    from core.commands._progress import Update
    from core.corpora.suites import Suite
    from core.evaluators.base import Evaluator
    from core.evaluators.video.video_evaluator import VideoScorer

ERRORS_SHOWN = 3

_MOST_NAMES = 1_000_000


class Teller:
    """Tells a program that watches how far the evaluators are: captions scored, of those of all of them.

    Args:
        path: file that it tells in; None: nobody watches.
        evaluators: how many there are; they weigh alike until it is known how often each reads the suite.
    """

    def __init__(self, path: Path | None, evaluators: int) -> None:
        from core.jobs.progress import ProgressFile

        self._file = None if path is None else ProgressFile(path)
        self._begun = time.monotonic()
        self._evaluators, self._at = evaluators, 0
        self._captions, self._parts, self._part = 0, 1, 0
        self._done = 0
        self._say("loading", 0)

    def next_evaluator(self, captions: int, parts: int) -> None:
        """Begin the next evaluator.

        Args:
            captions: of the suite.
            parts: how often it reads them.
        """
        self._captions, self._parts, self._part = captions, parts, 0
        self._at += 1
        self.part(0, 1)

    def part(self, done: int, total: int) -> None:
        """Say how far one reading of the suite is."""
        share = (self._part + (done / total if total else 1.0)) / self._parts
        self._say("scoring", round((self._at - 1 + share) * self._captions))

    def part_done(self) -> None:
        """End one reading of the suite."""
        self._part += 1

    def complete(self) -> None:
        """Say that the result is on the disk."""
        self._say("complete", self._evaluators * self._captions)

    def _say(self, phase: str, done: int) -> None:
        from core.audit.run import Progress

        if self._file is None:
            return
        spent, total = time.monotonic() - self._begun, self._evaluators * self._captions
        left = spent / done * (total - done) if done else None
        self._file(Progress(phase, done, total, spent, left, self._at, self._evaluators))


def read(files: Sequence[Path], *, keep_self_references: bool, only: Path | None) -> "tuple[Suite, list[str]]":
    """The suite, and in words how it was read where that is not the usual way."""
    from core.corpora.corpus_files import read_text
    from core.corpora.suites import only_images, read_suites

    held = read_suites(files, keep_self_references=keep_self_references)
    options = ["self-references kept"] if keep_self_references else []
    if only is not None:
        names = [line.strip() for line in read_text(only).splitlines() if line.strip()]
        if not 1 <= len(names) <= _MOST_NAMES:
            raise InvalidInput(f"{only} must name 1 to {_MOST_NAMES:,} images, one a line, got {len(names):,}")
        held = only_images(held, names)
        options.append(f"only the images of {only.name}")
    if not held.rated and not held.compared:
        raise InvalidInput(f"{files[0]} holds no usable judgement; {held.left_out} entries were left out")
    return held, options


def scored(
    held: "Suite",
    folders: Sequence[Path],
    reference: str,
    device: str | None,
    *,
    counts: Sequence[int],
    draws: int | None,
    called: str = "",
    calibrated: str = "",
    tell: "Teller | None" = None,
    footage: "Footage | None" = None,
) -> "Iterator[tuple[Reached, list[str]]]":
    """What an evaluator reaches, once for each way to compare with references, and what could not be scored."""
    from core.analysis.suite_result import reached
    from core.commands._progress import progress
    from core.evaluators.pool import Pool
    from core.evaluators.references import Referenced
    from core.scoring.suite_scores import asked_of, check_referenced, score_suite, settings_of, stacked
    from core.scoring.video_scores import score_video_suite

    with Pool(device=device).lease(reference) as loaded:
        scorer = _video_scorer(loaded, held, footage) if held.videos else None
        name = scorer.name if scorer else loaded.spec.name
        made_with = scorer.told if scorer else f"fingerprint {loaded.fingerprint.key}"
        note(f"{name}, {made_with}")
        if isinstance(loaded, Referenced):
            check_referenced(loaded, held)
        elif counts or draws:
            note(f"{loaded.spec.name} takes no references: --references and --draws change nothing")
        settings = settings_of(held, counts, draws) if isinstance(loaded, Referenced) else (None,)
        if tell is not None:
            tell.next_evaluator(len(asked_of(held)), sum(each.draws if each else 1 for each in settings))
        for setting in settings:
            parts = list(setting.suites(held)) if setting else [held]
            found = []
            for part in parts:
                with progress("scoring", unit="inputs") as update:

                    def both(done: int, total: int, update: "Update" = update) -> None:
                        update(done, total)
                        if tell is not None:
                            tell.part(done, total)

                    found.append(
                        score_video_suite(scorer, part, folders, progress=both)
                        if scorer
                        else score_suite(loaded, part, folders, progress=both)
                    )
                if tell is not None:
                    tell.part_done()
            whole = stacked(found) if len(found) > 1 else found[0]
            told = {"evaluator": called or name, "made_with": made_with}
            yield reached(held, whole, setting=setting, calibrated=calibrated, **told), list(whole.errors)


def by_words(
    held: "Suite", name: str, *, counts: Sequence[int], draws: int | None, tell: "Teller | None" = None
) -> "Iterator[tuple[Reached, list[str]]]":
    """What a metric of words alone reaches, once for each way to compare with references; no image is read."""
    from core.analysis.suite_result import reached
    from core.scoring.suite_scores import asked_of, check_words, made_with, score_words, settings_of, stacked

    check_words(held, name)
    told = made_with(held, name)
    note(f"{name}, {told}")
    settings = settings_of(held, counts, draws)
    if tell is not None:
        tell.next_evaluator(len(asked_of(held)), sum(each.draws for each in settings))
    for setting in settings:
        found = []
        for part in setting.suites(held):
            found.append(score_words(part, name))
            if tell is not None:
                tell.part_done()
        whole = stacked(found) if len(found) > 1 else found[0]
        yield reached(held, whole, setting=setting, evaluator=name, made_with=told), list(whole.errors)


Footage = tuple[str | None, Path | None]
"""What ``--frames`` and ``--idf`` say."""


def _video_scorer(loaded: "Evaluator", held: "Suite", footage: "Footage | None") -> "VideoScorer":
    from core.corpora.video_frames import Sampling
    from core.evaluators.video.video_evaluator import video_scorer
    from core.scoring.video_scores import usual_sampling

    frames, idf = footage or (None, None)
    sampling = Sampling.from_option(frames, name="--frames") if frames else usual_sampling(held)
    return video_scorer(loaded, sampling=sampling, idf=idf)


def imported(held: "Suite", path: Path, column: str, called: str) -> "tuple[Reached, list[str]]":
    """What scores reach that were made elsewhere."""
    from core.analysis.suite_result import reached_elsewhere

    entry, errors = reached_elsewhere(held, path, column=column, called=called)
    note(f"{entry.evaluator}: scores {entry.made_with}, not made here")
    return entry, errors


def show(result: "SuiteResult") -> None:
    """Print what was reached, the captioners where the suite ranks some, before and after, and every decision."""
    from core.analysis import suite_tables as tables

    columns = tables.reached_columns([result])
    _print(tables.reached_table([result]), columns, f"{result.told}; 95 % intervals over images")
    for frame, own, title in (
        (tables.agreement_table(result), tables.AGREEMENT_COLUMNS, "Order of captioners, people's and the evaluator's"),
        (tables.rank_table(result), tables.RANK_COLUMNS, "Captioners"),
    ):
        if len(frame):
            _print(frame, own, title)
    both = tables.before_and_after([result])
    if both["after"].notna().any():
        _print(both, tables.BEFORE_COLUMNS, "Preference accuracy, before and after calibration")
    _print(tables.decision_table(result), tables.DECISION_COLUMNS, "Why is mine different? Every decision")


def as_json(result: "SuiteResult", left_out: int) -> dict[str, Any]:
    """The result for a script; of one evaluator also as ``evaluator``, ``before`` and ``after``."""
    told: dict[str, Any] = {**result.model_dump(mode="json"), "left_out": left_out}
    before = [each for each in told["reached"] if not each["calibrated"]]
    if len(before) == 1:
        told |= {"evaluator": before[0]["evaluator"], "before": before[0]["rows"]}
        after = [each for each in told["reached"] if each["calibrated"]]
        told |= {"after": after[0]["rows"]} if after else {}
    return told


def complain_unscored(errors: Sequence[str]) -> None:
    """Say what has no score; exit code 1 where there is something."""
    for sentence in errors[:ERRORS_SHOWN]:
        note(sentence)
    if len(errors) > ERRORS_SHOWN:
        note(f"and {len(errors) - ERRORS_SHOWN:,} more without a score")
    if errors:
        raise typer.Exit(1)


def _print(frame: "pd.DataFrame", columns: "Sequence[Column]", title: str) -> None:
    from core.report.document import Table, cells

    shown = [each for each in columns if each.kind != "text" or frame[each.name].astype(bool).any()]
    rows = cells(Table("", title, "", frame, tuple(shown)))
    table([each.header for each in shown], rows, title=title)
