"""What evaluators reached on a suite, as one file: the command writes it, the page and the report read it.

A file holds one suite, read in one way; every evaluator that is held to it is added, or takes its own place anew.

A suite's captions given out to a metric that runs elsewhere, and its scores read back.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

import core
from core import settings
from core.corpora.score_files import (
    CANDIDATES,
    PAIRS,
    REFERENCES,
    GivenPair,
    ScoreFile,
    TextScores,
    pair_id,
    read_scores,
    read_text_scores,
    write_candidates,
    write_lines,
    write_references,
)
from core.corpora.suites.model import ACCURACY, ENGLISH, Compared, Rated, Suite
from core.corpora.suites.suite_files import with_companions
from core.corpora.versioned_files import read_small
from core.errors import InvalidInput
from core.evaluators.imported import stored_name
from core.features.suites.suite_measures import COLUMNS, Ranks, decisions_of, ranked, suite_table
from core.file_contents import Stamps, file_sha256, stamps
from core.scoring.suite_scores import Asked, Setting, SuiteScores, asked_of, check_folders, in_order, places_of
from core.store.text_files import write_json
from core.writing import write_folder_whole


def given_pairs(suite: Suite) -> dict[Asked, GivenPair]:
    """Every caption of a suite once, with all its references, in the order in which it is scored.

    The ids follow from the suite's file alone: its images need not be here to read scores back.
    """
    languages = [each.language for each in suite.rated] + [ENGLISH] * (2 * len(suite.compared))
    found: dict[Asked, GivenPair] = {}
    for asked, language in zip(asked_of(suite), languages, strict=True):
        if asked not in found:
            image, caption, references = asked
            found[asked] = GivenPair(
                pair_id(image, caption, language, references), image, caption, language, references
            )
    return found


def export_suite(suite: Suite, folders: Sequence[Path], out: Path) -> tuple[int, int]:
    """Write a suite's captions with the places of their images (:func:`core.scoring.suite_scores.score_suite`), for any
    metric to score: ``pairs.jsonl``, ``candidates.json`` and, where there are any, ``references.json``. Returns pairs
    written, and those left out because their image is not in the folders. Raises InvalidInput if a folder or every
    image is missing, or ``out`` holds such files already; StoreError if the folder cannot be written, it is as it was
    then."""
    check_folders(folders)
    pairs, places = given_pairs(suite), places_of(suite, folders)
    here = [
        GivenPair(each.id, str(place.absolute()), each.caption, each.language, each.references)
        for each in pairs.values()
        if (place := places[each.image]) is not None
    ]
    taken = next((name for name in (PAIRS, CANDIDATES, REFERENCES) if (out / name).exists()), None)
    if taken:
        raise InvalidInput(f"{out / taken} exists; choose another folder")
    write_folder_whole(out, partial(_fill, here))
    return len(here), len(pairs) - len(here)


def _fill(here: Sequence[GivenPair], out: Path) -> None:
    write_lines(out / PAIRS, here)
    write_candidates(out / CANDIDATES, here)
    if any(each.references for each in here):
        write_references(out / REFERENCES, here)


def imported_scores(suite: Suite, scores: ScoreFile) -> SuiteScores:
    """Scores of a suite that were made elsewhere: NaN, with one sentence each in ``errors``, where the file has no
    number for a caption. Raises InvalidInput if it names what is no caption of the suite."""
    pairs = given_pairs(suite)
    scores.check_ids({each.id for each in pairs.values()}.__contains__, suite.name)
    found = {key: scores.of(each.id) for key, each in pairs.items()}
    errors = [f"{image}: {error}" for (image, _, _), (_, error) in found.items() if error]
    return in_order(suite, {key: score for key, (score, _) in found.items()}, errors)


def scores_of_text(suite: Suite, scores: TextScores) -> SuiteScores:
    """Scores of a suite in FLEUR's text, which names images and captions: NaN, with one sentence each in ``errors``,
    where it has none of a caption. Raises InvalidInput if it has none at all of the suite."""
    pairs = dict.fromkeys(asked_of(suite))
    found = {asked: scores.scores[asked[:2]] for asked in pairs if asked[:2] in scores.scores}
    if not found:
        raise InvalidInput(f"{scores.name} has no score of a caption of {suite.name}; give the file of this suite")
    errors = [
        f"{image}: {caption[:60]!r} is not in {scores.name}"
        for image, caption, references in pairs
        if (image, caption, references) not in found
    ]
    return in_order(suite, found, errors)


MOST_BYTES = 8 << 20
MOST = 10_000  # most rows, evaluators and captioners of a file

Text = Annotated[str, StringConstraints(max_length=2000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Count = Annotated[int, Field(ge=0)]
Number = Annotated[float, Field(allow_inf_nan=False)] | None


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Row(_Part):
    """One number of :func:`core.features.suites.suite_measures.suite_table`; an older file names no dimension."""

    measure: Name
    dimension: Text = ""
    group: Text
    rater: Text = ""
    value: Number
    low: Number
    high: Number
    n: Count
    ties: Count
    note: Text


class RankRow(_Part):
    """One captioner of :class:`core.features.suites.suite_measures.Ranks`."""

    system: Name
    n: Count
    people: Number
    people_low: Number
    people_high: Number
    metric: Number
    metric_low: Number
    metric_high: Number
    people_strength: Number
    metric_strength: Number
    people_rank: Count
    metric_rank: Count
    people_rank_low: Number = None
    people_rank_high: Number = None
    metric_rank_low: Number = None
    metric_rank_high: Number = None


class RiskRow(_Part):
    """One family of :func:`core.features.suites.pair_risks.pair_risks`."""

    family: Name
    n: Count
    n_items: Count
    gap: Number
    evident: Number
    evident_low: Number
    evident_high: Number
    near: Number
    near_low: Number
    near_high: Number
    risk: Number
    risk_low: Number
    risk_high: Number


class Reached(_Part):
    """What one evaluator reached."""

    evaluator: Name  # its name
    made_with: Text  # its fingerprint, or the file that its scores were imported from
    references: Text = ""  # what its captions were compared with, in words; empty where it takes no references
    calibrated: Text = ""  # name of the calibrator's file and its strength; empty without one
    unscored: Count = 0  # captions without a score
    rows: Annotated[tuple[Row, ...], Field(max_length=MOST)]  # its numbers
    ranks: Annotated[tuple[RankRow, ...], Field(max_length=MOST)] = ()  # of captioners, where the suite names some
    # of both orders of captioners, with its interval over images; an older file has no interval
    spearman: Number = None
    spearman_low: Number = None
    spearman_high: Number = None
    kendall: Number = None  # likewise
    kendall_low: Number = None
    kendall_high: Number = None
    battles: Count | None = None  # that people and the evaluator both decided
    images: Count | None = None  # of these
    note: Text = ""  # on the strengths and intervals
    # of comparisons of two pictures, by family of edits, where a run was given
    risks: Annotated[tuple[RiskRow, ...], Field(max_length=MOST)] = ()
    risks_of: Text = ""  # that run, in words

    @property
    def key(self) -> tuple[str, str, str]:
        """What another entry of the same evaluator shares with it."""
        return self.evaluator, self.references, self.calibrated

    def table(self) -> pd.DataFrame:
        """The rows as :func:`core.features.suites.suite_measures.suite_table` gave them."""
        return pd.DataFrame([each.model_dump() for each in self.rows], columns=list(COLUMNS)).fillna(
            {"value": math.nan, "low": math.nan, "high": math.nan}
        )


class Decided(_Part):
    """A decision; see :class:`core.corpora.suites.model.Decision`."""

    id: Name
    what: Name
    done: Text
    count: Count
    of: Text


class Source(_Part):
    """A file of the suite: its name without folder, and the hash of its bytes."""

    name: Name
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class SuiteResult(_Part):
    """Evaluators on one suite."""

    format: Literal["invariscope-suite"] = "invariscope-suite"
    version: Literal[1] = 1
    invariscope: Text = core.__version__
    suite: Name  # its name
    convention: Literal["tau_b", "tau_c", "tau_b_raters", "accuracy"]  # what the field reports of it
    sources: Annotated[tuple[Source, ...], Field(min_length=1, max_length=100)]  # its files
    options: tuple[Text, ...] = ()  # how they were read where that is not the usual way, in words
    judgements: Count  # ratings or comparisons
    images: Count  # of these
    by_text: bool = False  # whether it compares pictures of one text, and not captions of one picture
    decisions: Annotated[tuple[Decided, ...], Field(max_length=100)]  # of reading and measuring
    reached: Annotated[tuple[Reached, ...], Field(max_length=MOST)] = ()  # by each evaluator

    @property
    def id(self) -> str:
        """Name of its file without the ending: the suite, and a hash of its files and of how they were read."""
        told = "\n".join([*(each.sha256 for each in self.sources), *self.options])
        name = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in self.suite.casefold())
        return f"{name[:40]}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"

    @property
    def rated(self) -> bool:
        """Whether people rated its captions; otherwise they compared two."""
        return self.convention != ACCURACY

    @property
    def told(self) -> str:
        """The suite in words: its name, its files, and how they were read."""
        return ", ".join([f"{self.suite}: {' + '.join(each.name for each in self.sources)}", *self.options])


def result_of(suite: Suite, files: Sequence[Path], options: Sequence[str] = ()) -> SuiteResult:
    """The result of a suite that no evaluator was held to yet; those that were read beside its files are added to them.
    ``options``: how it was read, where that is not the usual way."""
    judged: list[Rated | Compared] = [*suite.rated, *suite.compared]
    return SuiteResult(
        suite=suite.name,
        convention=suite.convention,  # type: ignore[arg-type]  # checked by the model
        sources=tuple(Source(name=each.name, sha256=file_sha256(each)) for each in with_companions(files)),
        options=tuple(options),
        judgements=len(judged),
        images=len({image for image, *_ in asked_of(suite)}),
        by_text=suite.by_text,
        decisions=tuple(Decided(**asdict(each)) for each in decisions_of(suite)),
    )


def reached(
    suite: Suite,
    scores: SuiteScores,
    *,
    evaluator: str,
    made_with: str,
    setting: Setting | None = None,
    calibrated: str = "",
    risks: pd.DataFrame | None = None,
    risks_of: str = "",
) -> Reached:
    """What an evaluator's scores, in the suite's order, reach on it; no setting: it takes no references. ``risks``: of
    :func:`core.features.suites.pair_risks.pair_risks`, if there is a run; the others: see :class:`Reached`."""
    table, ranks = suite_table(suite, scores), ranked(suite, scores)
    sides = (scores.rated, scores.preferred, scores.other)
    missing = sum(int(np.isnan(np.atleast_2d(each)).any(axis=0).sum()) for each in sides)
    return Reached(
        evaluator=evaluator,
        made_with=made_with,
        references=setting.told if setting else "",
        calibrated=calibrated,
        unscored=missing,
        rows=tuple(map(Row.model_validate, _plain(table))),
        ranks=tuple(map(RankRow.model_validate, _plain(ranks.table))) if ranks else (),
        **(_agreement(ranks) if ranks else {}),
        risks=() if risks is None else tuple(map(RiskRow.model_validate, _plain(risks))),
        risks_of=risks_of,
    )


def added(result: SuiteResult, *more: Reached) -> SuiteResult:
    """The result with further evaluators; one that it holds already is replaced where it stands."""
    found = {each.key: each for each in result.reached} | {each.key: each for each in more}
    return result.model_copy(update={"reached": tuple(found.values())})


def store(result: SuiteResult) -> Path:
    """Write a result into the data folder, with what its file holds already; return the file. Raises InvalidInput if
    the file that is there is no such result, and StoreError if it cannot be written."""
    path = settings.suites_dir() / f"{result.id}.json"
    if path.exists():
        known = {each.key for each in result.reached}
        result = added(result, *(each for each in read_result(path).reached if each.key not in known))
    write_json(path, result.model_dump(mode="json"))
    return path


def read_result(path: Path) -> SuiteResult:
    """Read a result; raises InvalidInput, saying where, if it cannot be read, is too large, or is no such file."""
    anew = "make it anew with python -m core suite, or remove it"
    return read_small(path, SuiteResult, most=MOST_BYTES, called="a result of a suite", anew=anew)


def stored(files: Stamps | None = None) -> tuple[tuple[SuiteResult, ...], tuple[str, ...]]:
    """Every result of the data folder, or of the :func:`changed` ones, by suite and file, and a sentence for each file
    that is none."""
    found, problems = list[SuiteResult](), list[str]()
    for path, *_ in changed() if files is None else files:
        try:
            found.append(read_result(Path(path)))
        except InvalidInput as error:
            problems.append(str(error))
    return tuple(sorted(found, key=lambda each: (each.suite, each.id))), tuple(problems)


def changed() -> Stamps:
    """The files of the data folder as they are now; one that changes is another."""
    return stamps(sorted(settings.suites_dir().glob("*.json")))


def _plain(table: pd.DataFrame) -> list[dict[str, object]]:
    """Rows without NaN, which strict JSON has none of."""
    return [
        {str(name): None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in table.astype(object).to_dict("records")
    ]


def _agreement(ranks: Ranks) -> dict[str, Any]:
    """How far both orders of captioners agree, as fields of :class:`Reached`."""
    told: dict[str, Any] = {"battles": ranks.battles, "images": ranks.spearman.n, "note": ranks.note}
    for name, found in (("spearman", ranks.spearman), ("kendall", ranks.kendall)):
        told |= {name: _finite(found.estimate), f"{name}_low": _finite(found.low), f"{name}_high": _finite(found.high)}
    return told


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def reached_elsewhere(suite: Suite, path: Path, *, column: str = "", called: str = "") -> tuple[Reached, list[str]]:
    """What imported scores reach on a suite, and one sentence for each caption without a score or with several. Raises
    InvalidInput if the file cannot be used, or is of another suite.

    Args:
        path: a file as for import-scores, by the ids of ``--export-pairs``; or FLEUR's text, ``.txt``.
        column: of the scores, where the file has several.
        called: the metric's name; empty: the name of the file.
    """
    name = stored_name(called or path.stem)
    if path.suffix.lower() == ".txt":
        text = read_text_scores(path, column=column)
        told, found = text.told, scores_of_text(suite, text)
    else:
        scores = read_scores(path, column=column)
        told, found = scores.told, imported_scores(suite, scores)
    return reached(suite, found, evaluator=name, made_with=f"imported from {told}"), list(found.errors)
