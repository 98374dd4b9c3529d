"""MCS from a multilingual encoder: the teacher's embeddings computed once, the student trained, the result kept."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput, NotAvailable
from core.evaluators.metrics.clipscore import ClipScore
from core.evaluators.metrics.mcs import Mcs, load_sentence_transformer
from core.evaluators.registry import find
from core.evaluators.weights.fetched import Place
from core.file_contents import known_sha256
from core.store.files import write_json
from core.training.distilling import Distiller, FoundBoth, Lessons
from core.training.embeddings import kept_embeddings
from core.training.encoder_files import keep_encoder, make_room
from core.training.sentences import Lesson, Sentence, lessons, split
from core.training.state import digest_of
from core.training.trainer import Report, Schedule

if TYPE_CHECKING:
    from torch import Tensor

    from core.evaluators.towers.encoder import Towers

TEXT, IMAGE = Mcs.entry.weights
"""Ids of the weights of ``mcs``: folders of these names are what ``mcs@FOLDER`` looks for."""
TRAINING = "mcs-training"
"""Folder of the state with the curves."""
MOST_TOKENS = 128
"""Of a text; what is longer is cut, as the published encoder does."""


@dataclass(frozen=True, slots=True)
class Distilled:
    """What came out.

    Args:
        folder: ``mcs@folder`` scores with it.
        train, held_out: texts, the English ones included.
        left_out: sentences by the reason that they could not be learned from.
    """

    folder: Path
    gain: FoundBoth
    train: int
    held_out: int
    left_out: Mapping[str, int]


def train_mcs(
    sentences: Sequence[Sentence],
    schedule: Schedule,
    *,
    student: Path,
    out: Path,
    described: str = "",
    teacher: Path | None = None,
    held_out: float = 0.1,
    device: str = "cpu",
    resume: bool = False,
    overwrite: bool = False,
    report: Report | None = None,
    reading: Report | None = None,
) -> Distilled:
    """Train a multilingual text encoder to embed every text as CLIP embeds its English sentence.

    Args:
        student: folder of a transformer in the hub's format, which gets a mean over its tokens and a dense layer as
            wide as the teacher; or a folder of sentence-transformers as wide as the teacher, which goes on learning.
        out: gets the encoder, in the folder where ``mcs@out`` looks for it, beside a copy of the user's own teacher;
            and the folder ``mcs-training``.
        described: where the sentences come from, for the settings that are kept.
        teacher: a CLIP checkpoint, as ``clipscore@teacher`` takes it; None: the one that ``clipscore`` uses. Sentences
            that it would cut are left out.
        held_out: share of the sources that are only measured.
        reading: called with sentences that the teacher has embedded and sentences in all.

    Raises:
        NotAvailable: without the teacher's weights, or if the student's folder cannot be loaded.
        InvalidInput: with too few sentences, if the student is of another width, or if ``out`` holds a training and
            neither ``resume`` nor ``overwrite`` is set.
        StoreError: if the disk is full; the last checkpoint stands.
    """
    make_room(out / TEXT, out / TRAINING, resume=resume, overwrite=overwrite)
    place, towers = _open(teacher, device)
    readable = [each for each in sentences if not towers.prompts.read(each.english).truncated]
    train, apart = split(readable, held_out=held_out, seed=schedule.seed)
    embeddings = _embed(readable, towers, out / TRAINING / "sentences.safetensors", reading)
    network = open_student(student, len(next(iter(embeddings.values()))), seed=schedule.seed)
    begun = _digest_of_folder(student)
    given = Lessons(
        lessons(train),
        lessons(apart),
        embeddings,
        digest_of(
            {
                "teacher": towers.digest,
                "student": begun,
                "train": _texts(lessons(train)),
                "held_out": _texts(lessons(apart)),
            }
        ),
    )
    write_json(
        out / TRAINING / "settings.json",
        {
            "sentences": described,
            "teacher": towers.digest,
            "student": begun,
            "languages": sorted({each.language for each in given.train}),
            "train": len(given.train),
            "held_out": len(given.held_out),
            "device": device,
            "schedule": asdict(schedule),
        },
    )
    distiller = Distiller(network, given, schedule, folder=out / TRAINING, device=device)
    gain = distiller.run(resume=resume, report=report)
    keep_encoder(network, out / TEXT, [_as_image_tower(place)])
    cut = len(sentences) - len(readable)
    return Distilled(out, gain, len(given.train), len(given.held_out), {"cut-by-the-teacher": cut} if cut else {})


def open_student(folder: Path, width: int, *, seed: int) -> Any:
    """Load the encoder that is to learn: a SentenceTransformer of ``width`` numbers a text.

    Args:
        seed: of the dense layer's first weights, where the folder has none.

    Raises:
        NotAvailable: if the folder cannot be loaded.
        InvalidInput: if it is a sentence-transformers folder of another width.
    """
    if (folder / "modules.json").is_file():
        network = load_sentence_transformer(folder)
        if (own := network.get_embedding_dimension()) != width:
            raise InvalidInput(
                f"{folder} gives {own} numbers a text and the teacher {width}; choose a student that fits"
            )
        return network
    return _built(folder, width, seed)


def _built(folder: Path, width: int, seed: int) -> Any:
    """A transformer of the hub under a mean over its tokens and a dense layer without bias, as MCS is published."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer

    if not (folder / "config.json").is_file():
        raise NotAvailable(f"{folder} holds no config.json: no transformer in the hub's format; name its folder")
    only_here = {"local_files_only": True, "trust_remote_code": False}
    try:
        words = Transformer(str(folder), model_kwargs=only_here, processor_kwargs=only_here, config_kwargs=only_here)
    except Exception as error:  # a folder may be wrong in any way that its libraries raise
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise NotAvailable(f"{folder} is no transformer that can be loaded: {reason:.300}") from error
    words.max_seq_length = min(MOST_TOKENS, words.max_seq_length or MOST_TOKENS)
    inside = words.get_embedding_dimension()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        dense = Dense(inside, width, bias=False, activation_function=torch.nn.Identity())
    return SentenceTransformer(modules=[words, Pooling(inside), dense], device="cpu")


def _open(teacher: Path | None, device: str) -> "tuple[Place, Towers]":
    kind = ClipScore if teacher is None else find(f"clipscore@{teacher}")
    assert issubclass(kind, ClipScore)  # a checkpoint of CLIPScore is bound to CLIPScore
    available = kind.availability()
    if not available.ready:
        raise NotAvailable(f"{available.reason}; run: {available.command}")
    places = kind.places()
    return places[0], kind.open(places, device)


def _as_image_tower(place: Place) -> Place:
    """The teacher's file under the name by which MCS looks for its image tower."""
    from core.evaluators.weights.catalogue import weights

    return Place(weights(IMAGE), place.path, own=place.own)


def _embed(sentences: Sequence[Sentence], towers: "Towers", path: Path, reading: Report | None) -> "dict[str, Tensor]":
    def embed(texts: Sequence[str]) -> "Mapping[str, Tensor]":
        return dict(zip(texts, towers.text.each(texts, towers.embed_texts), strict=True))

    english = list(dict.fromkeys(each.english for each in sentences))
    return kept_embeddings(english, embed, path, digest=towers.digest, chunk=256, every=1 << 16, report=reading)


def _digest_of_folder(folder: Path) -> str:
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    return digest_of({each.relative_to(folder).as_posix(): known_sha256(each) for each in files})


def _texts(found: Sequence[Lesson]) -> list[tuple[str, str, str, str]]:
    return [(each.source, each.english, each.language, each.text) for each in found]
