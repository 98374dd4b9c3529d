"""The judge: a vision-language model behind any OpenAI-compatible endpoint, or on this machine, asked with a rubric.
Judges on demand, ``judge:MODEL@RUBRIC``, are any model with any rubric; a panel of several is one evaluator."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from core.corpora.images import encode_png, pixel_hash
from core.corpora.schema import Mask
from core.errors import InvalidInput, InvariscopeError, NotAvailable, ScoringStopped
from core.evaluators.base import (
    BATCH_SIZE,
    Availability,
    Evaluator,
    EvaluatorSpec,
    Fingerprint,
    Joined,
    Sight,
    Told,
    all_scored,
    check_lengths,
    evaluator,
    family,
    told,
)
from core.evaluators.cache import PAIR, EmbeddingCache, pair_key
from core.evaluators.generative import Generative
from core.evaluators.network.asking import Asker, Journal, Post, line, request_key
from core.evaluators.network.endpoint import NEEDED, PREFIX, Budget, Endpoint, endpoint_of, model_table, prices_of
from core.evaluators.network.rubrics import MOST_TOKENS, Rubric, Verdict, find_rubric, read_verdict
from core.evaluators.references import Referenced, check_references
from core.evaluators.weights.catalogue import described
from core.probes.rejections import coded
from core.settings import cache_dir, data_dir

LONGEST_SIDE = 1024  # side in px that an image is made smaller to before it is sent
_COMMAND = " ".join(f"{name}=…" for name in NEEDED) + " INVARISCOPE_JUDGE_KEY=… python -m core evaluators"
_FOR_MODEL = f"{PREFIX}URL=… {PREFIX}KEY=… python -m core evaluators show"
TURNS = 8  # questions of one batch for each that may be in the air
KIND = "chat/completions"  # kind of endpoint that is asked
ASKED: dict[str, Any] = {"family": "judge", "memory_mb": 1, "offline": False}  # what every judge says of itself
_Pair = tuple[np.ndarray, str, tuple[str, ...]]  # image, caption, references


class OnDemand(Evaluator):
    """A model behind an endpoint, asked with a rubric; answers are kept on disk. A pair is asked once: the answer is
    kept by (image hash, caption, references, rubric, model), so a repeat is the same to the bit. What has no valid
    answer is null with its reason, never a number.
    ``rubric``: what is asked; a text alone asks for a whole number from 0 to 10 and a reason.
    ``answers``: journal of the answers that were paid for; None: in memory only.
    ``earlier``: cache in which they were kept before there was a journal; it is read where it is there."""

    one_process = True
    rubric_name: ClassVar[str] = ""  # for :func:`core.evaluators.network.rubrics.find_rubric`, where it is not ``made``
    made: ClassVar[Rubric | None] = None
    model: ClassVar[str] = ""  # empty: the one that the environment names

    def __init__(
        self, endpoint: Endpoint, rubric: Rubric | str, answers: Path | None = None, *, earlier: Path | None = None
    ) -> None:
        self.budget = Budget(endpoint)
        self._endpoint = endpoint
        self.rubric = rubric if isinstance(rubric, Rubric) else Rubric(text=rubric, low=0, high=10)
        self._digest = self.rubric.digest
        self._asker = Asker(endpoint, self.rubric, self.budget)
        self._answers = Journal(answers)
        self._earlier = EmbeddingCache(earlier, memory_mb=16) if earlier and earlier.is_file() else None

    @classmethod
    def endpoint(cls) -> Endpoint:
        """Where it is asked. Raises NotAvailable where none is named; InvalidInput where a setting cannot be used."""
        return endpoint_of(cls.model) if cls.model else Endpoint.from_environment()

    @classmethod
    def availability(cls) -> Availability:
        try:
            cls.endpoint()
        except InvariscopeError as error:
            return Availability(False, str(error), f"{_FOR_MODEL} {cls.spec.name}" if cls.model else _COMMAND)
        return Availability(True)

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Read the environment and the rubric; raises as :meth:`endpoint`, InvalidInput where there is no rubric."""
        rubric = cls.made or find_rubric(cls.rubric_name)[1]
        journal, earlier = data_dir() / "judge" / "answers.jsonl", cache_dir() / "judge.sqlite"
        return cls(cls.endpoint(), rubric, journal, earlier=earlier)

    @property
    def full_batch(self) -> int:
        """Several times as many pairs as questions may be in the air, so that few wait for the last of a batch."""
        return max(BATCH_SIZE, TURNS * self._endpoint.concurrency)

    @property
    def fingerprint(self) -> Fingerprint:
        """Model, kind of endpoint, rubric, scale, order and sampling; the endpoint's host, never its key."""
        preprocessing = "no picture"
        if self.rubric.picture != "none":
            preprocessing = f"PNG, longest side at most {LONGEST_SIDE} px (area)"
        endpoint, settings = self._endpoint, {"rubric": self.rubric.digest, **self.rubric.settings}
        settings |= {"endpoint": KIND, "host": endpoint.host}
        return Fingerprint(self.spec.name, endpoint.model, preprocessing, "that of the endpoint", settings=settings)

    @property
    def asked(self) -> str:
        return self.rubric.prompt("{caption}", ["{references}"])

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        shown = self.rubric.picture != "none"
        return Sight(
            views=(("as it is sent", sent(image)),) if shown else (),
            crop=None,
            prompt=self.rubric.prompt(caption),
            object_inside=1.0 if shown and object_mask is not None else None,
            notes=(
                f"Asked of {self._endpoint.model} at {self._endpoint.host}.",
                *(() if shown else ("The rubric shows no picture.",)),
            ),
        )

    def judged(
        self, images: Sequence[np.ndarray], captions: Sequence[str], references: Sequence[Sequence[str]]
    ) -> np.ndarray:
        """Judge n pairs; float64 [n] on the rubric's scale. Raises PartlyScored where some pairs have no score, with
        the others' scores. Raises ScoringStopped where no pair can be scored any more; what was answered is kept."""
        check_lengths(images, captions)
        hashes = {id(image): pixel_hash(image) if self.rubric.picture != "none" else "" for image in images}
        rows = list(zip(images, captions, map(tuple, references), strict=True))
        keys = [pair_key(hashes[id(image)], caption, told) for image, caption, told in rows]
        pairs: dict[str, _Pair] = dict(zip(keys, rows, strict=True))
        requests = {key: self._request(key) for key in pairs}
        journal = self._answers.scores(requests.values())
        known = {key: journal[request] for key, request in requests.items() if request in journal}
        missing = [key for key in pairs if key not in known]
        if self._earlier is not None and missing:
            kept = self._earlier.get_many(f"judge:{self._digest}:{self._endpoint.model}", PAIR, missing)
            known |= {key: float(value) for key, value in kept.items()}
        failed = self._ask({key: pair for key, pair in pairs.items() if key not in known}, known)
        scores = np.array([known.get(key, np.nan) for key in keys], dtype=np.float64)
        return all_scored(scores, [failed.get(key) for key in keys])

    def _request(self, key: str) -> str:
        return request_key(rubric=self._digest, model=self._endpoint.model, pair=key, longest_side=LONGEST_SIDE)

    def _ask(self, pairs: dict[str, _Pair], known: dict[str, float]) -> dict[str, str]:
        """Ask about all pairs at once; fills ``known``, returns why the others have no score."""
        failed: dict[str, str] = {}
        if not pairs:
            return failed
        self._answers.check()
        final: list[InvariscopeError] = []

        def one(post: Post, key: str) -> Verdict:
            if final:  # nobody asks again after an answer that ends it all, even before the others are cancelled
                raise final[0]
            image, caption, references = pairs[key]
            try:
                png = b"" if self.rubric.picture == "none" else encode_png(sent(image))
                found = self._asker.ask(post, png, caption, references)
                self._answers.add(self._request(key), found)  # on the disk before anybody counts on it
            except (ScoringStopped, NotAvailable) as error:
                final.append(error)
                raise
            return found

        with line(self._endpoint) as post, ThreadPoolExecutor(min(self._endpoint.concurrency, len(pairs))) as threads:
            asked = {threads.submit(one, post, key): key for key in pairs}
            try:
                for done in as_completed(asked):
                    try:
                        known[asked[done]] = done.result().score
                    except (ScoringStopped, NotAvailable):
                        raise
                    except InvariscopeError as error:
                        failed[asked[done]] = str(error)
            except BaseException:
                threads.shutdown(wait=True, cancel_futures=True)
                raise
        return failed


@evaluator(
    name="judge",
    title="Judge over the network",
    summary="A vision-language model rates the pair from 0 to 10 by a frozen rubric, at temperature 0.",
    **ASKED,
    score_range=(0.0, 10.0),
    source="Rubric in assets/rubrics/judge.md; PROTOCOL section 2",
    licence="that of the endpoint",
)
class Judge(OnDemand):
    """Asks the model that ``INVARISCOPE_JUDGE_*`` names."""

    rubric_name = "judge"

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Judge n pairs; float64 [n] on the rubric's scale; raises as :meth:`judged`."""
        return self.judged(images, captions, [()] * len(captions))


@evaluator(
    name="judge-protoscore",
    title="Judge over the network, paper E's rubric",
    summary="A vision-language model rates the pair from 1 to 4 by paper E's rubric for prototypes, at temperature 0.",
    **ASKED,
    score_range=(1.0, 4.0),
    source="Rubric in assets/rubrics/protoscore.md; paper E, Table 6",
    licence="that of the endpoint",
)
class ProtoscoreJudge(Judge):
    """The same with another rubric: endpoint, budget and answers are its."""

    rubric_name = "protoscore"


class ReferencedJudge(OnDemand, Referenced):
    """A judge whose rubric shows captions by people beside the one that is judged."""

    def score(
        self, images: Sequence[np.ndarray], captions: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> np.ndarray:
        """Judge n pairs beside n lists of references; float64 [n] on the rubric's scale; raises as :meth:`judged`."""
        return self.judged(images, captions, check_references(self.spec.name, references, len(captions)))


def judge_of(argument: str) -> type[OnDemand]:
    """Make the judge of one model and one rubric; without a rubric it is Invariscope's.
    Raises InvalidInput if no model is named, or the rubric cannot be used."""
    model, at, place = argument.rpartition("@")
    model, place = (model, place) if at else (argument, "judge")
    if not model or not model.isprintable() or "," in model or not place:
        raise InvalidInput(f"give a model and a rubric, e.g. judge:gpt-4o@judge; got {'judge:' + argument!r}")
    name, rubric = find_rubric(place)
    table = model_table(model)
    languages = [set(each) for each in (table.languages, rubric.languages) if each]
    reads = tuple(sorted(set.intersection(*languages))) if languages else ()
    if languages and not reads:
        raise InvalidInput(
            f"{model} reads {', '.join(table.languages)} and the rubric {name} is for {', '.join(rubric.languages)}; "
            "take another rubric"
        )
    return _made(model, name, rubric, reads, prices_of(model))


judges = family(
    "judge", form="judge:MODEL@RUBRIC, e.g. judge:gpt-4o@judge, judge:gpt-4o@clair, judge:gpt-4o@mine.toml", whole=True
)(judge_of)


@lru_cache(maxsize=256)
def _made(
    model: str, name: str, rubric: Rubric, languages: tuple[str, ...], prices: tuple[float | None, float | None]
) -> type[OnDemand]:
    unseen = " It is shown no picture." if rubric.picture == "none" else ""
    cost = "" if None in prices else f" A million tokens cost {prices[0]:g} read and {prices[1]:g} written."
    spec = EvaluatorSpec(
        name=f"judge:{model}@{name}",
        title=f"{model}, {rubric.title}",
        summary=f"{model} rates the pair from {rubric.low:g} to {rubric.high:g}.{unseen}{cost}",
        **ASKED,
        score_range=(rubric.low, rubric.high),
        source=rubric.source,
        licence="that of the endpoint",
        takes_references=rubric.takes_references,
        languages=languages,
    )
    kind: type[OnDemand] = ReferencedJudge if rubric.takes_references else Judge
    return type("JudgeOnDemand", (kind,), {"spec": spec, "model": model, "made": rubric, "__doc__": kind.__doc__})


def sent(image: np.ndarray) -> np.ndarray:
    """Return the image as it is sent: uint8 RGB, longest side at most LONGEST_SIDE px."""
    import cv2

    scale = LONGEST_SIDE / max(image.shape[:2])
    if scale >= 1:
        return image
    size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))


@described("judge-local")
class JudgeLocal(Generative):
    """The same rubric and answer as ``judge``, the most probable token at each place: no sampling, no endpoint."""

    def question(self, caption: str) -> str:
        return f"{self._rubric}\n\nCaption:\n{caption}"

    def judged(self, images: Sequence[np.ndarray], prompts: Sequence[str]) -> np.ndarray:
        """Scores in [0, 10] of n prompts about n pictures. Raises PartlyScored where an answer is no verdict."""
        answers = self._model.answers(images, prompts, tokens=MOST_TOKENS, probabilities=False)
        return self.read(answers, lambda answer: read_verdict(answer.text).score)


WAYS = ("mean", "median", "majority")
_FORM = "panel:mean=judge:MODEL@RUBRIC+judge:MODEL@RUBRIC; mean, median or majority"


class Panel(Joined):
    """Several judges, each score as a share of its judge's scale, joined in one of WAYS: from 0 to 1. A majority is the
    score that more than half of the judges give; where there is none, the pair has no score, with the reason. Each
    answer of a judge is its own, kept once: auditing the judges beside the panel asks nothing again."""

    one_process = True
    way: ClassVar[str] = "mean"

    def __init__(self, parts: Sequence[Evaluator]) -> None:
        super().__init__(parts)
        self._ends = np.array([each.spec.score_range for each in self.parts], dtype=np.float64)

    @property
    def full_batch(self) -> int:
        return max(each.full_batch for each in self.parts)

    def join(self, scores: np.ndarray) -> np.ndarray:
        """Join float64 [k, n]; float64 [n] in [0, 1]; NaN where a judge has none, or there is no majority."""
        low, high = self._ends[:, :1], self._ends[:, 1:]
        shares = (scores - low) / (high - low)
        if self.way == "mean":
            return np.asarray(shares.mean(axis=0))
        middle = np.median(shares, axis=0)
        if self.way == "median":
            return np.asarray(middle)
        # what more than half give is the median
        return np.where((shares == middle).sum(axis=0) > len(shares) / 2, middle, np.nan)

    def joined(self, found: Iterable[Told]) -> tuple[np.ndarray, tuple[str | None, ...]]:
        scores, reasons = super().joined(found)
        none = coded("no-majority", "no score was given by more than half of the panel's judges")
        told = zip(scores, reasons, strict=True)
        return scores, tuple(why or (None if np.isfinite(score) else none) for score, why in told)

    @property
    def asked(self) -> str:
        return "\n\n".join(f"[{each.spec.name}]\n{each.asked}" for each in self.parts)

    @property
    def fingerprint(self) -> Fingerprint:
        return self.of_parts("that of the endpoints", way=self.way)

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        seen = self.parts[0].see(image, caption, object_mask=object_mask)
        said = [(each.spec.name, float(told(each, [image], [caption])[0][0])) for each in self.parts]
        notes = [f"{name} gives no score." for name, score in said if np.isnan(score)]
        return replace(
            seen,
            prompt="\n\n".join(each.see(image, caption).prompt for each in self.parts),
            evidence=tuple(sorted((each for each in said if np.isfinite(each[1])), key=lambda each: -each[1])),
            notes=(f"The {self.way} of {len(said)} judges, as shares of their scales.", *notes),
        )


@family("panel", form=_FORM, whole=True)
def panel_of(argument: str) -> type[Evaluator]:
    """Make the panel of several judges. Raises InvalidInput for another form, a judge twice or alone, one that is shown
    references, or a majority of several scales."""
    way, equals, named = argument.partition("=")
    if way not in WAYS or not equals or not named.startswith("judge:"):
        raise InvalidInput(f"give a panel as {_FORM}; got {'panel:' + argument!r}")
    kinds = [judge_of(each) for each in named.removeprefix("judge:").split("+judge:")]
    names = [kind.spec.name for kind in kinds]
    if len(set(names)) < 2 or len(set(names)) < len(names):
        raise InvalidInput(f"a panel has at least two judges, each once; got {', '.join(names)}")
    if shown := [kind.spec.name for kind in kinds if kind.spec.takes_references]:
        raise InvalidInput(f"{shown[0]} is shown references, and a panel is asked about pairs alone; leave it out")
    if way == "majority" and len({kind.spec.score_range for kind in kinds}) > 1:
        raise InvalidInput(f"a majority is of one scale, and {' and '.join(names)} have several; take mean or median")
    return _panel(way, tuple(kinds))


@lru_cache(maxsize=64)
def _panel(way: str, kinds: tuple[type[OnDemand], ...]) -> type[Evaluator]:
    names = [kind.spec.name for kind in kinds]
    read = [set(kind.spec.languages) for kind in kinds if kind.spec.languages]
    languages = tuple(sorted(set.intersection(*read))) if read else ()
    if read and not languages:
        raise InvalidInput(f"{' and '.join(names)} read no language in common; take others")
    spec = EvaluatorSpec(
        name=f"panel:{way}={'+'.join(names)}",
        title=f"{way.capitalize()} of {len(kinds)} judges",
        summary=f"The {way} of {', '.join(names)}, each score a share of its scale.",
        **ASKED,
        score_range=(0.0, 1.0),
        source="Verga et al., Replacing Judges with Juries, 2024 (PoLL)",
        licence="those of the endpoints",
        languages=languages,
    )
    return type("PanelOnDemand", (Panel,), {"spec": spec, "kinds": kinds, "way": way, "__doc__": Panel.__doc__})
