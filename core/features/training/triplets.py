"""What PR-MCS is trained on: (image, caption, perturbed caption), drawn anew each epoch from the seed alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from core.corpora.schema import Item
from core.errors import InvalidInput, ProbeRejected
from core.probes.words.caption_words import LANGUAGES, join, words
from core.probes.words.lexical_edits import EDITS
from core.seeds import stream


class OfImage(Protocol):
    """What belongs to an image."""

    @property
    def image(self) -> str:
        """Its id."""


T = TypeVar("T", bound=OfImage)


@dataclass(frozen=True, slots=True)
class Example:
    """A caption with its image."""

    image: str  # id of the item
    language: str
    rank: int  # which caption of its language it is
    caption: str


def examples(items: Sequence[Item], languages: Sequence[str] = ()) -> tuple[tuple[Example, ...], int]:
    """The captions, in the order of the items, in the languages (none: all) that can be perturbed; and how many were
    left out because they are blank. Raises InvalidInput for a language that cannot be perturbed, or if no caption is
    left."""
    unknown = [name for name in languages if name not in LANGUAGES]
    if unknown:
        raise InvalidInput(f"captions can be perturbed in {', '.join(LANGUAGES)}, got language {unknown[0]!r}")
    wanted = tuple(languages) or LANGUAGES
    every = [
        Example(item.id, language, rank, caption)
        for item in items
        for language in wanted
        for rank, caption in enumerate(item.captions.get(language, ()))
    ]
    found = tuple(each for each in every if each.caption.strip())
    if not found:
        raise InvalidInput(
            f"{len(items)} items have no caption in {', '.join(wanted)} that holds a word; "
            "choose a corpus with captions, or a split that has them"
        )
    return found, len(every) - len(found)


def split(found: Sequence[T], *, held_out: float, seed: int) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """Part examples by image into those for training and a share held out; at least two images are held out and two
    stay. Raises InvalidInput for a share outside (0, 1), or with fewer than four images."""
    if not 0 < held_out < 1:
        raise InvalidInput(f"the share of held-out images must lie between 0 and 1, got {held_out!r}")
    images = list(dict.fromkeys(each.image for each in found))
    if len(images) < 4:
        raise InvalidInput(f"training needs captions of at least 4 images, got {len(images)}")
    count = min(max(2, round(held_out * len(images))), len(images) - 2)
    order = stream(seed, "held-out").permutation(len(images))
    apart = {images[index] for index in order[:count]}
    return tuple(each for each in found if each.image not in apart), tuple(e for e in found if e.image in apart)


def few(found: Sequence[Example], most: int | None, *, seed: int) -> tuple[Example, ...]:
    """Draw at most so many examples, in their order; None: all of them. A larger draw of a seed holds a smaller one.
    Raises InvalidInput if those drawn are of one image: a batch contrasts images."""
    if most is None or most >= len(found):
        return tuple(found)
    drawn = tuple(found[index] for index in sorted(stream(seed, "few").permutation(len(found))[:most].tolist()))
    if len({each.image for each in drawn}) < 2:
        raise InvalidInput(f"the {most} captions drawn to learn from are of fewer than two images; give more")
    return drawn


def batches(found: Sequence[T], *, size: int, seed: int, epoch: int) -> list[list[T]]:
    """Shuffle an epoch's examples into batches that hold each image once.

    A second caption of an image would be a wrong answer of the contrastive loss that is right. So the epoch has
    rounds: the first has one caption of every image, the second one of every image that has two, and so on. A round
    that is one image alone has nothing to contrast and is left out.
    """
    rng = stream(seed, "batches", str(epoch))
    by_image: dict[str, list[T]] = {}
    for index in rng.permutation(len(found)):
        by_image.setdefault(found[index].image, []).append(found[index])
    drawn: list[list[T]] = []
    for turn in range(max(map(len, by_image.values()), default=0)):
        members = [each[turn] for each in by_image.values() if len(each) > turn]
        members = [members[index] for index in rng.permutation(len(members))]
        count = max(1, min(-(-len(members) // size), len(members) // 2))
        drawn += [members[part::count] for part in range(count)] if len(members) > 1 else []
    return [drawn[index] for index in rng.permutation(len(drawn))]


def perturb(example: Example, *, seed: int, epoch: str) -> tuple[str, str]:
    """Perturb a caption by one of the five edits, each as likely, or another one where that changes nothing: its name
    and the text."""
    rng = stream(seed, "perturb", epoch, example.image, example.language, str(example.rank))
    names = list(EDITS)
    for index in rng.permutation(len(names)):
        text = edited(example, names[index], seed=seed, epoch=epoch)
        if text is not None:
            return names[index], text
    raise AssertionError("a caption with a word can always be repeated")  # examples() leaves blank ones out


def edited(example: Example, name: str, *, seed: int, epoch: str) -> str | None:
    """The caption under one edit; None where the edit does not apply or changes nothing."""
    rng = stream(seed, name, epoch, example.image, example.language, str(example.rank))
    try:
        text = EDITS[name](example.caption, rng, language=example.language)
    except ProbeRejected:
        return None
    unchanged = join(words(example.caption, example.language), example.language)
    return None if text == unchanged else text
