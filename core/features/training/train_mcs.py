"""MCS from a multilingual encoder, which learns where CLIP's own text encoder puts an English sentence.

The teacher's embeddings are computed once, the student is trained and measured by how well a text finds its English
sentence among them, and the result is kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InvalidInput, NotAvailable, first_line
from core.evaluators.metrics.clipscore import ClipScore
from core.evaluators.metrics.mcs import Mcs, load_sentence_transformer
from core.evaluators.registry import find
from core.evaluators.weights.catalogue import weights
from core.evaluators.weights.fetched import Place
from core.features.training.lessons import Lesson, Sentence, batches, lessons, split
from core.features.training.trainer import (
    Losses,
    Report,
    Schedule,
    Trained,
    Trainer,
    digest_of,
    keep_encoder,
    kept_embeddings,
    make_room,
)
from core.file_contents import known_sha256
from core.seeds import stream
from core.store.text_files import write_json

if TYPE_CHECKING:
    from torch import Tensor

    from core.evaluators.towers.encoder import Towers


MOST_MEASURED = 2000  # held-out sentences that are looked for at most: each is compared with each
RESAMPLES = 2000
_CHUNK = 512


@dataclass(frozen=True, slots=True)
class Found:
    """Held-out sentences, looked for by their texts."""

    # by language, percent of the texts to whose embedding the teacher's of their own English sentence is the nearest by
    # cosine, among those of all ``candidates``
    found: Mapping[str, float]
    mean_found: float  # mean of ``found`` over the languages, in percent
    low: float  # low, high: its 95 % interval, percentile bootstrap over sources
    high: float
    cosine: Mapping[str, float]  # by language, mean cosine with the teacher's embedding
    error: Mapping[str, float]  # by language, the loss: mean squared difference, over texts and dimensions
    candidates: int  # candidates, texts, sources: how many distinct English sentences, texts and sources
    texts: int
    sources: int

    def as_dict(self) -> dict[str, Any]:
        """For a file."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def look_for(
    held_out: Sequence[Lesson],
    teacher: "Mapping[str, Tensor]",
    embed: "Callable[[Sequence[str]], Tensor]",
    *,
    seed: int,
) -> Found:
    """Embed held-out texts (n texts -> float32 [n, d] on the CPU) and look for the English sentence of each, by its
    teacher's embedding."""
    import torch
    from torch.nn.functional import cosine_similarity, normalize

    english = list(dict.fromkeys(each.english for each in held_out))
    place = {text: index for index, text in enumerate(english)}
    targets = torch.stack([teacher[text] for text in english])
    made = embed([each.text for each in held_out])
    own = torch.tensor([place[each.english] for each in held_out])
    unit = normalize(targets, dim=-1).T
    nearest = torch.cat([(normalize(part, dim=-1) @ unit).argmax(dim=-1) for part in made.split(_CHUNK)])
    hit = (nearest == own).numpy()
    cosines = cosine_similarity(made.double(), targets[own].double(), dim=-1).numpy()
    errors = (made.double() - targets[own].double()).square().mean(dim=-1).numpy()
    languages = np.array([each.language for each in held_out])
    names = list(dict.fromkeys(languages.tolist()))
    sources = list(dict.fromkeys(each.source for each in held_out))
    rank = {name: index for index, name in enumerate(sources)}
    places = np.array([rank[each.source] for each in held_out])
    rows = []  # for each language how many texts of each source are found, and how many there are
    for own in (languages == name for name in names):
        found = np.bincount(places[own], weights=hit[own], minlength=len(sources))
        rows.append((found, np.bincount(places[own], minlength=len(sources)).astype(float)))
    drawn = stream(seed, "interval").multinomial(len(sources), np.full(len(sources), 1 / len(sources)), size=RESAMPLES)
    low, high = np.nanpercentile(_mean_found(rows, drawn), [2.5, 97.5])

    def mean(values: np.ndarray) -> dict[str, float]:
        return {name: float(values[languages == name].mean()) for name in names}

    shares = {name: 100 * share for name, share in mean(hit).items()}
    whole, counts = _mean_found(rows, np.ones((1, len(sources))))[0], (len(english), len(held_out), len(sources))
    return Found(shares, float(whole), float(low), float(high), mean(cosines), mean(errors), *counts)


def drawn(held_out: Sequence[Lesson], *, seed: int) -> tuple[Lesson, ...]:
    """The lessons of at most MOST_MEASURED held-out English sentences, drawn by the seed, in their order."""
    english = list(dict.fromkeys(each.english for each in held_out))
    order = stream(seed, "measured").permutation(len(english))[:MOST_MEASURED]
    kept = {english[index] for index in order}
    return tuple(each for each in held_out if each.english in kept)


def _mean_found(rows: Sequence[tuple[np.ndarray, np.ndarray]], drawn: np.ndarray) -> np.ndarray:
    """Mean over the languages in percent, for each row of how often every source counts."""
    with np.errstate(divide="ignore", invalid="ignore"):
        every = [(drawn @ found) / (drawn @ of) for found, of in rows]
    return np.asarray(100 * np.nanmean(every, axis=0))


@dataclass(frozen=True, slots=True)
class Lessons:
    """What is learned from."""

    train: Sequence[Lesson]
    held_out: Sequence[Lesson]
    # embeddings of every English sentence as CLIP's text tower gives them, float32 [d] of any length, by their text
    teacher: "Mapping[str, Tensor]"
    identity: str  # digest of what it all comes from, for a resumed training


@dataclass(frozen=True, slots=True)
class FoundBoth:
    """Held-out sentences before and after."""

    before: Found
    after: Found
    steps: int


class Distiller(Trainer[Lesson, Found, FoundBoth]):
    """Trains a text encoder against a teacher's embeddings."""

    def __init__(self, network: Any, given: Lessons, schedule: Schedule, *, folder: Path) -> None:
        super().__init__(network, schedule, identity=given.identity, folder=folder)
        self.given = given
        self._measured_on = drawn(given.held_out, seed=schedule.seed)

    def batches(self, epoch: int) -> list[list[Lesson]]:
        """Every text once, shuffled."""
        return batches(self.given.train, size=self.schedule.batch, seed=self.schedule.seed, epoch=epoch)

    def losses(self, batch: Sequence[Lesson], epoch: int) -> Losses:
        """L(t, s) = 1/N · Σ (t − s)², t the teacher's embedding of the English sentence, s the student's of the text.

        Source: paper B, section 3.1 (teacher learning).
        """
        import torch

        wanted = torch.stack([self.given.teacher[each.english] for each in batch]).to(self.device)
        made = self.embed([each.text for each in batch])
        return Losses(torch.nn.functional.mse_loss(made, wanted))

    def measure(self) -> Found:
        """How many held-out texts find their English sentence."""
        return look_for(self._measured_on, self.given.teacher, self.embed_all, seed=self.schedule.seed)

    def gain(self, before: Found, after: Found, done: int) -> FoundBoth:
        """Both measurements."""
        return FoundBoth(before, after, done)

    def told(self, gain: FoundBoth) -> Mapping[str, Any]:
        """The measurement."""
        return gain.after.as_dict()


TEXT, IMAGE = Mcs.entry.weights
"""Ids of the weights of ``mcs``: folders of these names are what ``mcs@FOLDER`` looks for."""
TRAINING = "mcs-training"  # folder of the state with the curves
MOST_TOKENS = 128  # of a text; what is longer is cut, as the published encoder does


def train_mcs(
    sentences: Sequence[Sentence],
    schedule: Schedule,
    *,
    student: Path,
    out: Path,
    described: str = "",
    teacher: Path | None = None,
    report: Report | None = None,
    reading: Report | None = None,
) -> Trained[FoundBoth]:
    """Train a multilingual text encoder to embed every text as CLIP embeds its English sentence. Raises NotAvailable
    without the teacher's weights, or if the student's folder cannot be loaded; InvalidInput with too few sentences, if
    the student is of another width, or if ``out`` holds a training that is neither to be resumed nor overwritten;
    StoreError if the disk is full, the last checkpoint stands.

    Args:
        student: folder of a transformer in the hub's format, which gets a mean over its tokens and a dense layer as
            wide as the teacher; or a folder of sentence-transformers as wide as the teacher, which goes on learning.
        out: gets the encoder, in the folder where ``mcs@out`` looks for it, beside a copy of the user's own teacher;
            and the folder ``mcs-training``.
        described: where the sentences come from, for the settings that are kept.
        teacher: a CLIP checkpoint, as ``clipscore@teacher`` takes it; None: the one that ``clipscore`` uses. Sentences
            that it would cut are left out.
        reading: called with sentences that the teacher has embedded and sentences in all.
    """
    make_room(out / TEXT, out / TRAINING, schedule)
    kind, (place, *others) = find_clip(teacher)
    towers = kind.open((place, *others), schedule.device)
    readable = [each for each in sentences if not towers.prompts.read(each.english).truncated]
    train, apart = split(readable, held_out=schedule.held_out, seed=schedule.seed)
    embeddings = _embed(readable, towers, out / TRAINING / "sentences.safetensors", reading)
    network = open_student(student, len(next(iter(embeddings.values()))), seed=schedule.seed)
    files = sorted(each for each in student.rglob("*") if each.is_file())
    begun = digest_of({each.relative_to(student).as_posix(): known_sha256(each) for each in files})
    sides = {"train": lessons(train), "held_out": lessons(apart)}
    models = {"teacher": towers.digest, "student": begun}
    fields = ("source", "english", "language", "text")
    texts = {side: [tuple(getattr(each, name) for name in fields) for each in own] for side, own in sides.items()}
    material = digest_of({**models, **texts})
    given = Lessons(sides["train"], sides["held_out"], embeddings, material)
    languages, many = sorted({each.language for each in given.train}), {side: len(own) for side, own in sides.items()}
    about = {"sentences": described, **models, "languages": languages, **many, "device": schedule.device}
    write_json(out / TRAINING / "settings.json", {**about, "schedule": schedule.settings})
    distiller = Distiller(network, given, schedule, folder=out / TRAINING)
    gain = distiller.run(report=report)
    # the teacher's file under the name by which MCS looks for its image tower
    keep_encoder(network, out / TEXT, [Place(weights(IMAGE), place.path, own=place.own)])
    cut = len(sentences) - len(readable)
    return Trained(out, gain, len(given.train), len(given.held_out), {"cut-by-the-teacher": cut} if cut else {})


def open_student(folder: Path, width: int, *, seed: int) -> Any:
    """Load the encoder that is to learn, a SentenceTransformer of ``width`` numbers a text; the seed is of a dense
    layer that the folder has not. Raises NotAvailable if it cannot be loaded, and InvalidInput if it is of another
    width."""
    if (folder / "modules.json").is_file():
        network = load_sentence_transformer(folder)
        if (own := network.get_embedding_dimension()) != width:
            raise InvalidInput(
                f"{folder} gives {own} numbers a text and the teacher {width}; choose a student that fits"
            )
        return network
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer

    # else a transformer of the hub under a mean over its tokens and a dense layer without bias, as MCS is published
    if not (folder / "config.json").is_file():
        raise NotAvailable(f"{folder} holds no config.json: no transformer in the hub's format; name its folder")
    only_here = {"local_files_only": True, "trust_remote_code": False}
    try:
        words = Transformer(str(folder), model_kwargs=only_here, processor_kwargs=only_here, config_kwargs=only_here)
    except Exception as error:  # a folder may be wrong in any way that its libraries raise
        raise NotAvailable(f"{folder} is no transformer that can be loaded: {first_line(error):.300}") from error
    words.max_seq_length = min(MOST_TOKENS, words.max_seq_length or MOST_TOKENS)
    inside = words.get_embedding_dimension()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        dense = Dense(inside, width, bias=False, activation_function=torch.nn.Identity())
    return SentenceTransformer(modules=[words, Pooling(inside), dense], device="cpu")


def find_clip(given: Path | None) -> tuple[type[ClipScore], tuple[Place, ...]]:
    """CLIPScore on a checkpoint with OpenAI's names, or on its own weights, and where they lie; raises NotAvailable if
    they are not here."""
    kind = ClipScore if given is None else find(f"clipscore@{given}")
    assert issubclass(kind, ClipScore)  # a checkpoint of CLIPScore is bound to CLIPScore
    kind.check_available()
    return kind, kind.places()


def _embed(sentences: Sequence[Sentence], towers: "Towers", path: Path, reading: Report | None) -> "dict[str, Tensor]":
    def embed(texts: Sequence[str]) -> "Mapping[str, Tensor]":
        return dict(zip(texts, towers.text.each(texts, towers.embed_texts), strict=True))

    english = list(dict.fromkeys(each.english for each in sentences))
    return kept_embeddings(english, embed, path, digest=towers.digest, chunk=256, every=1 << 16, report=reading)
