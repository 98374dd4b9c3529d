"""The judge: a vision-language model behind any OpenAI-compatible endpoint, asked with a frozen rubric.

The judge on this machine: the frozen rubric, asked of a vision-language model through transformers.

The judge with paper E's rubric: whether a picture is what a text says, from 1 to 4.
"""

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Self

import numpy as np

from core.corpora.images import encode_png, pixel_hash
from core.corpora.schema import Mask
from core.errors import InvariscopeError, NotAvailable, ScoringStopped
from core.evaluators.base import (
    BATCH_SIZE,
    Availability,
    Evaluator,
    Fingerprint,
    PartlyScored,
    Sight,
    check_lengths,
    evaluator,
)
from core.evaluators.cache import PAIR, EmbeddingCache, pair_key
from core.evaluators.generative import Generative, read_rubric
from core.evaluators.network.answer import MOST_TOKENS, TEN, Form, Verdict, read_verdict
from core.evaluators.network.asking import SEED, Asker, Journal, Post, line, request_key
from core.evaluators.network.endpoint import NEEDED, Budget, Endpoint
from core.evaluators.weights.catalogue import described
from core.settings import cache_dir, data_dir

LONGEST_SIDE = 1024
"""Side in px that an image is made smaller to before it is sent."""

_COMMAND = " ".join(f"{name}=…" for name in NEEDED) + " INVARISCOPE_JUDGE_KEY=… python -m core evaluators"


TURNS = 8
"""Questions of one batch for each that may be in the air."""


@evaluator(
    name="judge",
    title="Judge over the network",
    summary="A vision-language model rates the pair from 0 to 10 by a frozen rubric, at temperature 0.",
    family="judge",
    score_range=(0.0, 10.0),
    memory_mb=1,
    offline=False,
    source="Rubric in assets/rubrics/judge.md; PROTOCOL section 2",
    licence="that of the endpoint",
)
class Judge(Evaluator):
    """Asks the endpoint that ``INVARISCOPE_JUDGE_*`` names; answers are kept on disk.

    A pair is asked once: the answer is kept by (image hash, caption, rubric hash, model), so a repeat is the same
    to the bit. What has no valid answer is null with its reason, never a number.

    Args:
        endpoint: where, how patiently, at what cost.
        rubric: the text that precedes every pair.
        answers: journal of the answers that were paid for; None: in memory only.
        earlier: cache in which they were kept before there was a journal; it is read where it is there.
    """

    one_process = True
    rubric_file = "judge.md"
    """Of ``assets/rubrics``."""
    form = TEN
    """What the rubric asks for."""

    def __init__(
        self, endpoint: Endpoint, rubric: str, answers: Path | None = None, *, earlier: Path | None = None
    ) -> None:
        self.budget = Budget(endpoint)
        self._endpoint = endpoint
        self._rubric = rubric
        self._digest = hashlib.sha256(rubric.encode()).hexdigest()[:16]
        self._asker = Asker(endpoint, rubric, self.budget, self.form)
        self._answers = Journal(answers)
        self._earlier = EmbeddingCache(earlier, memory_mb=16) if earlier and earlier.is_file() else None

    @classmethod
    def availability(cls) -> Availability:
        """Whether an endpoint is named; it is not asked."""
        try:
            Endpoint.from_environment()
        except InvariscopeError as error:
            return Availability(False, str(error), _COMMAND)
        return Availability(True)

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Read the environment and the rubric.

        Raises:
            NotAvailable: where no endpoint is named.
            InvalidInput: where a setting cannot be used or the rubric is missing.
        """
        rubric = read_rubric(cls.rubric_file)
        journal, earlier = data_dir() / "judge" / "answers.jsonl", cache_dir() / "judge.sqlite"
        return cls(Endpoint.from_environment(), rubric, journal, earlier=earlier)

    @property
    def full_batch(self) -> int:
        """Several times as many pairs as questions may be in the air, so that few wait for the last of a batch."""
        return max(BATCH_SIZE, TURNS * self._endpoint.concurrency)

    @property
    def fingerprint(self) -> Fingerprint:
        """Model, rubric and sampling; the endpoint's host, never its key."""
        return Fingerprint(
            name=self.spec.name,
            weights=self._endpoint.model,
            preprocessing=f"PNG, longest side at most {LONGEST_SIDE} px (area)",
            precision="that of the endpoint",
            settings={"rubric": self._digest, "temperature": 0, "seed": SEED, "host": self._endpoint.host},
        )

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Judge n pairs; float64 [n] on the rubric's scale.

        Raises:
            PartlyScored: where some pairs have no score, with the others' scores.
            ScoringStopped: where no pair can be scored any more; what was answered is kept.
        """
        check_lengths(images, captions)
        hashes = {id(image): pixel_hash(image) for image in images}
        keys = [pair_key(hashes[id(image)], caption) for image, caption in zip(images, captions, strict=True)]
        pairs = dict(zip(keys, zip(images, captions, strict=True), strict=True))
        known = self._known(list(pairs))
        failed = self._ask({key: pair for key, pair in pairs.items() if key not in known}, known)
        scores = np.array([known.get(key, np.nan) for key in keys], dtype=np.float64)
        if failed:
            raise PartlyScored(scores, [failed.get(key) for key in keys])
        return scores

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        """Show the picture as it is sent, and the prompt."""
        return Sight(
            views=(("as it is sent", sent(image)),),
            crop=None,
            prompt=f"{self._rubric}\n\nCaption:\n{caption}",
            object_inside=None if object_mask is None else 1.0,
            notes=(f"Asked of {self._endpoint.model} at {self._endpoint.host}.",),
        )

    def _known(self, keys: Sequence[str]) -> dict[str, float]:
        """Scores that were paid for, by the key of their pair."""
        journal = self._answers.scores([self._request(key) for key in keys])
        known = {key: journal[request] for key in keys if (request := self._request(key)) in journal}
        missing = [key for key in keys if key not in known]
        if self._earlier is not None and missing:
            kept = self._earlier.get_many(f"judge:{self._digest}:{self._endpoint.model}", PAIR, missing)
            known |= {key: float(value) for key, value in kept.items()}
        return known

    def _request(self, key: str) -> str:
        return request_key(rubric=self._digest, model=self._endpoint.model, pair=key, longest_side=LONGEST_SIDE)

    def _ask(self, pairs: dict[str, tuple[np.ndarray, str]], known: dict[str, float]) -> dict[str, str]:
        """Ask about all pairs at once; fills ``known``, returns why the others have no score."""
        failed: dict[str, str] = {}
        if not pairs:
            return failed
        self._answers.check()
        final: list[InvariscopeError] = []

        def one(post: Post, key: str) -> Verdict:
            if final:  # nobody asks again after an answer that ends it all, even before the others are cancelled
                raise final[0]
            image, caption = pairs[key]
            try:
                found = self._asker.ask(post, encode_png(sent(image)), caption)
                self._answers.add(self._request(key), found)  # on the disk before anybody counts on it
            except (ScoringStopped, NotAvailable) as error:
                final.append(error)
                raise
            return found

        with (
            line(self._endpoint) as post,
            ThreadPoolExecutor(min(self._endpoint.concurrency, len(pairs))) as threads,
        ):
            asked = {threads.submit(one, post, key): key for key in pairs}
            try:
                for done in as_completed(asked):
                    _take(asked[done], done, known, failed)
            except BaseException:
                threads.shutdown(wait=True, cancel_futures=True)
                raise
        return failed


def _take(key: str, done: "Future[Verdict]", known: dict[str, float], failed: dict[str, str]) -> None:
    try:
        known[key] = done.result().score
    except (ScoringStopped, NotAvailable):
        raise
    except InvariscopeError as error:
        failed[key] = str(error)


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

    def _prepare(self) -> None:
        self._rubric = read_rubric(str(self.entry.settings["rubric"]))

    def question(self, caption: str) -> str:
        """The rubric with the caption behind it."""
        return f"{self._rubric}\n\nCaption:\n{caption}"

    def facts(self) -> Mapping[str, str]:
        """Hash of the rubric."""
        return {"rubric_sha256": hashlib.sha256(self._rubric.encode()).hexdigest()[:16]}

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Judge n pairs; float64 [n] in [0, 10]; raises PartlyScored where an answer is no verdict."""
        check_lengths(images, captions)
        asked = [self.prompt(caption) for caption in captions]
        answers = self._model.answers(images, asked, tokens=MOST_TOKENS, probabilities=False) if asked else []
        return self.read(answers, lambda answer: read_verdict(answer.text).score)


_FORM = Form(low=1, high=4, reasoned=False)


@evaluator(
    name="judge-protoscore",
    title="Judge over the network, paper E's rubric",
    summary="A vision-language model rates the pair from 1 to 4 by paper E's rubric for prototypes, at temperature 0.",
    family="judge",
    score_range=(float(_FORM.low), float(_FORM.high)),
    memory_mb=1,
    offline=False,
    source="Rubric in assets/rubrics/protoscore.md; paper E, Table 6",
    licence="that of the endpoint",
)
class ProtoscoreJudge(Judge):
    """:class:`core.evaluators.metrics.judge.Judge` with another rubric: endpoint, budget and answers are its."""

    rubric_file = "protoscore.md"
    form = _FORM
