"""The loop of any training: steps, measurements, checkpoints; a killed training goes on to the same weights.

Its curves are JSON lines, its state one safetensors file without a pickle.
"""

import json
import math
import shutil
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from core.errors import InvalidInput, InvariscopeError, StoreError
from core.evaluators.weights.fetched import Place
from core.seeds import RUN_SEED
from core.writing import write_bytes, write_folder_whole, write_whole

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor


CURVES = "curves.jsonl"


class Curves:
    """A line a step (the losses) and one an epoch (what is held out), kept in memory until a checkpoint is written.

    A line and the checkpoint that it belongs to may be parted by a kill: :meth:`forget_after` drops what the
    checkpoint does not know.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / CURVES
        self._lines: list[dict[str, Any]] = []

    def step(self, step: int, epoch: int, losses: dict[str, float]) -> None:
        """Add the losses of a step."""
        self._lines.append({"step": step, "kind": "losses", "epoch": epoch + 1, **losses})

    def held_out(self, step: int, found: Mapping[str, Any]) -> None:
        """Add a measurement on what is held out."""
        self._lines.append({"step": step, "kind": "held-out", **found})

    def forget_after(self, step: int) -> None:
        """Take up the lines of the file up to a step."""
        self._lines = [line for line in read_curves(self.path) if line["step"] <= step] if step >= 0 else []

    @property
    def measured(self) -> list[dict[str, Any]]:
        """The lines of measurements, in their order."""
        return [line for line in self._lines if line["kind"] == "held-out"]

    def flush(self) -> None:
        """Write the file as a whole; raises StoreError if it cannot be written."""
        text = "".join(json.dumps(line) + "\n" for line in self._lines)
        write_bytes(self.path, text.encode())


def read_curves(path: Path) -> list[dict[str, Any]]:
    """Read the lines; none where there is no file. Raises InvalidInput naming the line that is damaged."""
    if not path.is_file():
        return []
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = json.loads(text)
            lines.append({**line, "step": int(line["step"])})
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"{path}, line {number}, is no line of curves ({error}); delete the file") from error
    return lines


def table(path: Path) -> "pd.DataFrame":
    """The curves, long: columns step, kind, name, value."""
    import pandas as pd

    rows = []
    for line in read_curves(path):
        flat = dict(line)
        for outer, inner in line.items():
            flat |= {f"{outer} {name}": value for name, value in inner.items()} if isinstance(inner, dict) else {}
        rows += [
            {"step": line["step"], "kind": line.get("kind", ""), "name": name, "value": float(value)}
            for name, value in flat.items()
            if isinstance(value, int | float) and name not in ("step", "epoch")
        ]
    return pd.DataFrame(rows, columns=["step", "kind", "name", "value"])


STATE, BEST = "state.safetensors", "best.safetensors"
FILES_OF_A_TRAINING = (STATE, BEST, CURVES, "settings.json")
Report = Callable[[int, int], None]  # called with steps done and steps in all

Lesson = TypeVar("Lesson")  # what a batch is made of
Found = TypeVar("Found")  # what is measured on held-out material
Gain = TypeVar("Gain")  # a measurement beside the one before the first step


@dataclass(frozen=True, slots=True)
class Losses:
    """Losses of a batch, scalars: ``total`` is what is minimised."""

    total: "Tensor"

    def numbers(self) -> dict[str, float]:
        """Each loss as a plain number, by its name."""
        return {name: float(getattr(self, name).detach()) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Schedule:
    """How any encoder is trained."""

    epochs: int = 5  # passes over everything
    batch: int = 64  # lessons in a step
    learning_rate: float = 5e-5  # of AdamW, constant, β = (0.9, 0.999), ε = 1e-8. Source: paper B, B.2.
    weight_decay: float = 0.01  # of AdamW; the paper states none, this is PyTorch's
    seed: int = RUN_SEED
    checkpoint_every: int = 500  # steps between two checkpoints; there is one after each epoch anyway
    # share of the pictures, or sources, that are only measured. Source: paper B, B.1 (9 : 1), and 0.9 for its few-shot.
    held_out: float = 0.1
    device: str = "cpu"  # where it is trained
    resume: bool = False  # go on with what a stopped training left
    overwrite: bool = False  # start over

    @property
    def settings(self) -> dict[str, Any]:
        """What the weights depend on beside the material, for a file."""
        apart = ("held_out", "device", "resume", "overwrite")
        return {name: value for name, value in asdict(self).items() if name not in apart}

    def __post_init__(self) -> None:
        for name, value, least in (("epochs", self.epochs, 1), ("batch", self.batch, 2)):
            if value < least:
                raise InvalidInput(f"{name} must be at least {least}, got {value!r}")
        if not 0 < self.learning_rate < math.inf:
            raise InvalidInput(f"the learning rate must be positive, got {self.learning_rate!r}")
        if self.checkpoint_every < 1:
            raise InvalidInput(f"steps between checkpoints must be at least 1, got {self.checkpoint_every!r}")


@dataclass(frozen=True, slots=True)
class Trained(Generic[Gain]):
    """What came out."""

    place: Path  # folder or checkpoint: ``NAME@place`` scores with it
    gain: Gain  # what is measured before and after
    train: int  # train, held_out: lessons: texts, captions or pairs
    held_out: int
    left_out: Mapping[str, int]  # how many by the reason that they could not be learned from


class Trainer(ABC, Generic[Lesson, Found, Gain]):
    """Trains an encoder, a SentenceTransformer unless a subclass embeds texts itself; a subclass says on what, by which
    loss, and what is measured. ``identity``: digest of what is learned from, for a resumed training; ``folder``: of the
    checkpoint and the curves."""

    def __init__(self, network: Any, schedule: Schedule, *, identity: str, folder: Path) -> None:
        import torch

        self.device = schedule.device
        self.network, self.schedule, self.folder = network.to(self.device), schedule, folder
        self.optimizer = torch.optim.AdamW(
            trained(network).values(),
            lr=schedule.learning_rate,
            betas=(0.9, 0.999),
            eps=1e-8,
            weight_decay=schedule.weight_decay,
        )
        self.curves = Curves(folder)
        self.settings = digest_of({**schedule.settings, "checkpoint_every": None, "material": identity})

    @abstractmethod
    def batches(self, epoch: int) -> list[list[Lesson]]:
        """The batches of an epoch, from the seed alone."""

    @abstractmethod
    def losses(self, batch: Sequence[Lesson], epoch: int) -> Losses:
        """The losses of a batch, to be differentiated."""

    @abstractmethod
    def measure(self) -> Found:
        """Measure the held-out material as the encoder is now."""

    @abstractmethod
    def gain(self, before: Found, after: Found, done: int) -> Gain:
        """Put a measurement after so many steps beside the first."""

    @abstractmethod
    def told(self, gain: Gain) -> Mapping[str, Any]:
        """What the curves keep of it."""

    def enough(self) -> bool:
        """Whether the measurements so far say that the training shall end before its last epoch."""
        return False

    def run(self, *, report: Report | None = None) -> Gain:
        """Train to the end; where the schedule resumes, from the folder's checkpoint on, if it has one. Raises
        InvalidInput if the checkpoint is damaged or of other settings; InvariscopeError if the loss stops being a
        number; StoreError if the disk is full; KeyboardInterrupt after Ctrl-C, once the step's checkpoint is
        written."""
        import torch

        before = self.measure()
        torch.manual_seed(self.schedule.seed)
        done = self._start(before)
        per_epoch = len(self.batches(0))
        total = per_epoch * self.schedule.epochs
        gain: Gain | None = None
        with _asked_to_stop() as asked:
            for epoch in range(done // per_epoch, self.schedule.epochs):
                if self.enough():
                    break
                for batch in self.batches(epoch)[done % per_epoch :]:
                    losses = self._step(batch, epoch, done)
                    done += 1
                    self.curves.step(done, epoch, losses)
                    if report is not None:
                        report(done, total)
                    ends, stop = done % per_epoch == 0, asked()
                    if ends:
                        gain = self._measured(before, done)
                    if ends or stop or done % self.schedule.checkpoint_every == 0:
                        self._save(done)
                    if stop:
                        raise KeyboardInterrupt
        return gain if gain is not None else self.gain(before, self.measure(), done)

    def embed(self, texts: Sequence[str]) -> "Tensor":
        """Embed texts as the encoder is now; float32 [n, d] on its device, of any length."""
        features = self.network.preprocess(list(texts))
        features = {name: value.to(self.device) for name, value in features.items() if hasattr(value, "to")}
        found: Tensor = self.network(features)["sentence_embedding"]
        return found

    def embed_all(self, texts: Sequence[str]) -> "Tensor":
        """Embed any number of texts for a measurement, batch by batch; float32 [n, d] on the CPU."""
        import torch

        self.network.eval()
        size = self.schedule.batch
        with torch.inference_mode():
            parts = [self.embed(texts[start : start + size]).cpu() for start in range(0, len(texts), size)]
            return torch.cat(parts)

    def _start(self, before: Found) -> int:
        """The number of steps made: of the checkpoint, whose network, optimizer and random numbers are taken up."""
        import torch
        from safetensors import SafetensorError, safe_open

        path = self.folder / STATE
        if not self.schedule.resume or not path.is_file():
            self.curves.forget_after(-1)
            self.curves.held_out(0, self.told(self.gain(before, before, 0)))
            return 0
        try:
            with safe_open(path, framework="pt", device="cpu") as file:
                about = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError, ValueError) as error:
            raise InvalidInput(f"{path} is damaged ({error}); start over with --overwrite") from error
        if about.get("settings") != self.settings:
            raise InvalidInput(f"{path} belongs to a training with other settings; resume with those, or --overwrite")
        try:
            fill(self.network, _under("model.", tensors))
            moments: dict[int, dict[str, Tensor]] = {}
            for name, value in _under("optimizer.", tensors).items():
                index, _, key = name.partition(".")
                moments.setdefault(int(index), {})[key] = value
            groups = self.optimizer.state_dict()["param_groups"]
            self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
            torch.set_rng_state(tensors["random.cpu"])
            if torch.cuda.is_available() and "random.cuda" in tensors:
                torch.cuda.set_rng_state(tensors["random.cuda"])
            done = int(about["step"])
        except (RuntimeError, KeyError, ValueError, TypeError) as error:
            raise InvalidInput(
                f"{path} does not fit this encoder ({error!s:.160}); start over with --overwrite"
            ) from error
        self.curves.forget_after(done)
        return done

    def _step(self, batch: Sequence[Lesson], epoch: int, done: int) -> dict[str, float]:
        import torch

        self.network.train()
        losses = self.losses(batch, epoch)
        if not bool(torch.isfinite(losses.total)):
            raise InvariscopeError(
                f"the loss is {float(losses.total.detach())} at step {done + 1} (learning rate "
                f"{self.schedule.learning_rate:g}); start over with --overwrite and a lower --learning-rate"
            )
        self.optimizer.zero_grad(set_to_none=True)
        losses.total.backward()
        self.optimizer.step()
        return losses.numbers()

    def _measured(self, before: Found, done: int) -> Gain:
        gain = self.gain(before, self.measure(), done)
        self.curves.held_out(done, self.told(gain))
        return gain

    def _save(self, done: int) -> None:
        """Write the state after a step as a whole file or nothing, with the digest of everything that a resumed
        training must share."""
        import torch
        from safetensors.torch import save

        self.curves.flush()
        tensors: dict[str, Tensor] = {f"model.{name}": value for name, value in trained(self.network).items()}
        for index, values in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{name}": value for name, value in values.items()}
        tensors["random.cpu"] = torch.get_rng_state()
        if torch.cuda.is_available():
            tensors["random.cuda"] = torch.cuda.get_rng_state()
        packed = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
        about = {"format": "1", "step": str(done), "settings": self.settings}
        write_bytes(self.folder / STATE, save(packed, metadata=about))


@contextmanager
def _asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed: a step is finished and saved first; pressed again, it stops at once."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return
    usual = signal.getsignal(signal.SIGINT)

    def hear(*_: object) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, hear)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, usual)


def trained(network: Any) -> "dict[str, Tensor]":
    """The parameters that a training changes, by name."""
    return {name: value for name, value in network.named_parameters() if value.requires_grad}


def fill(network: Any, tensors: "Mapping[str, Tensor]") -> None:
    """Copy values into the parameters that a training changes; raises KeyError, RuntimeError where one is missing or of
    another shape."""
    import torch

    with torch.no_grad():
        for name, value in trained(network).items():
            value.copy_(tensors[name])


def digest_of(settings: dict[str, Any]) -> str:
    """Digest of settings, the same in any order of their names."""
    import hashlib

    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


def _under(prefix: str, tensors: "dict[str, Tensor]") -> "dict[str, Tensor]":
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def make_room(encoder: Path, training: Path, schedule: Schedule) -> None:
    """Refuse to replace what stands; with ``overwrite`` forget the training, and its encoder once there is another.
    Raises InvalidInput if something stands and neither is set, or both are."""
    if schedule.resume and schedule.overwrite:
        raise InvalidInput("--resume and --overwrite exclude each other; choose one")
    standing = [each for each in (encoder, training) if each.exists()]
    if schedule.overwrite:
        for name in FILES_OF_A_TRAINING:
            (training / name).unlink(missing_ok=True)
    elif standing and not schedule.resume:
        raise InvalidInput(f"{standing[0]} exists; --resume goes on with it, --overwrite starts over")


def keep_encoder(network: Any, encoder: Path, beside: Sequence[Place] = ()) -> None:
    """Write a SentenceTransformer aside and give it its name in one step, weights of one file of the user's own beside
    it unless they are there. Raises StoreError if it cannot be written; what stood there still stands."""
    try:
        for place in beside:
            if place.own and not (encoder.parent / place.weights.id).exists():
                (path,) = place.files()
                copied = encoder.parent / place.weights.id / place.weights.files[0].name
                write_whole(copied, partial(_copy, path))
        save = network.cpu().eval().save
        write_folder_whole(encoder, lambda folder: save(str(folder), create_model_card=False), standing="replaced")
    except StoreError:
        raise
    except Exception as error:  # safetensors has its own error for a full disk
        raise StoreError(f"{encoder} cannot be written: {error!s:.200}; start again with --resume") from error


def _copy(path: Path, temporary: Path) -> None:
    shutil.copyfile(path, temporary)


Embed = Callable[[Sequence[str]], "Mapping[str, Tensor]"]
"""Maps ids to embeddings, float32 [d]; what cannot be embedded is left out."""


def kept_embeddings(
    ids: Sequence[str],
    embed: Embed,
    path: Path,
    *,
    digest: str,
    chunk: int,
    every: int,
    report: Callable[[int, int], None] | None = None,
) -> "dict[str, Tensor]":
    """Embed every id once, by chunks; what a stopped training has embedded (written after ``every`` ids) is taken up
    again, a file that is damaged or of other towers is made again. Raises StoreError if it cannot be written."""
    import torch
    from safetensors.torch import save

    known = _read(path, digest)
    missing = [each for each in ids if each not in known]
    unwritten = 0
    for start in range(0, len(missing), chunk):
        part = missing[start : start + chunk]
        known |= embed(part)
        done, unwritten = start + len(part), unwritten + len(part)
        if known and (unwritten >= every or done == len(missing)):
            about = {"towers": digest, "ids": json.dumps(list(known))}
            write_bytes(path, save({"embeddings": torch.stack(list(known.values()))}, metadata=about))
            unwritten = 0
        if report is not None:
            report(done, len(missing))
    return {each: known[each] for each in ids if each in known}


def _read(path: Path, digest: str) -> "dict[str, Tensor]":
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        return {}
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            about = file.metadata() or {}
            if about.get("towers") != digest:
                return {}
            return dict(zip(json.loads(about["ids"]), file.get_tensor("embeddings"), strict=True))
    except (SafetensorError, OSError, ValueError, KeyError):  # a copy of what can be made again
        return {}
