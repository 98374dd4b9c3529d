"""What a suite is once it was read: ratings, comparisons, and every decision on the way from the file to them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.errors import BadCorpus
from core.seeds import RUN_SEED, stream
from core.yes_no import seen

TAU_B, TAU_C, ACCURACY = "tau_b", "tau_c", "accuracy"

TAU_B_RATERS = "tau_b_raters"  # τ_b of each annotator's ratings alone, the mean over annotators

ENGLISH = "en"

PICTURE_SUITES = ("Pick-a-Pic", "MJ-Bench", "HPDv2", "GenAI-Bench", "TIFA", "GenAI-Arena")
"""Names of the suites of several pictures of one text."""

_OF_IMAGES = ("Flickr8k-Expert", "Flickr8k-CF", "Pascal-50S", "Composite", "FOIL", "CapArena", "Polaris", "Nebula")
_AND_MORE = ("LongCap-Arena", "THumB", "M-CapEval1k", "VATEX-EVAL", "ActivityNet-FOIL")
PUBLISHED = (*_OF_IMAGES, *_AND_MORE, *PICTURE_SUITES)
"""Names of the suites whose publishers' files are read."""

MOST_NAME = 60  # characters of the longest name of a suite, a rater or a dimension


@dataclass(frozen=True, slots=True)
class Rated:
    """One caption of an image with one rating by people."""

    image: str
    caption: str
    rating: float
    group: str = ""  # the part of the suite it belongs to
    language: str = ENGLISH
    references: tuple[str, ...] = ()  # further captions that are right of the image
    rater: str = ""  # which annotator gave it, where the suite says so and its measure needs it; empty otherwise
    dimension: str = ""  # what was rated, e.g. relevance, where the suite names it; each is measured alone.


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of two paragraphs that describe a video, and the part of the video that it is about."""

    preferred: str  # of the right paragraph
    other: str  # of the wrong one
    part: tuple[float, float]  # as shares of the video: where it begins and ends
    references: tuple[str, ...] = ()  # sentences that are right of this part


@dataclass(frozen=True, slots=True)
class Compared:
    """Two captions of an image, or two images of a text, the one that is right or that people prefer first."""

    image: str
    preferred: str
    other: str
    group: str = ""  # the part of the suite it belongs to
    references: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()  # which captioners wrote the two, where the suite says so; empty otherwise
    tied: bool = False  # people prefer neither: ``preferred`` is only the first of the file
    # of both captions, where each is scored against its own part of a video and the mean counts; empty: each caption
    # is scored as one text
    sentences: tuple[Sentence, ...] = ()
    # that the other caption, which is the same text then, is scored beside; empty: the same image
    other_image: str = ""

    @property
    def sides(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Image and caption of both sides, the preferred one first."""
        return (self.image, self.preferred), (self.other_image or self.image, self.other)

    @property
    def source(self) -> str:
        """What pairs that stand together share: the image, or the text of two images."""
        return self.preferred if self.other_image else self.image


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice on the way from a suite's file to its number."""

    id: str  # short and stable
    what: str  # the choice, in two or three words
    done: str  # what was done, one sentence without its full stop
    count: int  # how many of ``of`` it concerns; 0: it changes nothing here
    of: str  # what is counted


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite as it was read."""

    name: str  # one of PUBLISHED; or what a suite of one's own, or an example, calls itself
    convention: str  # what the field reports of it: TAU_B, TAU_C or TAU_B_RATERS (× 100), or ACCURACY
    rated: tuple[Rated, ...] = ()  # ratings, for the conventions of τ
    compared: tuple[Compared, ...] = ()  # pairs, for ACCURACY
    left_out: int = 0  # entries without a usable rating or caption
    decisions: tuple[Decision, ...] = ()  # of reading it
    videos: bool = False  # whether its images are videos
    # whether fewer references are the first ones of the file, as its publisher takes them, and not drawn
    first: bool = False
    # whether it has several images of a text, which are compared, and not several captions of an image
    by_text: bool = False
    pictures: str = ""  # folder that holds images which came inside the file; empty: none did

    @property
    def most_references(self) -> int:
        """References of the caption, or the sentence, that has the most."""
        sentences = (each for pair in self.compared for each in pair.sentences)
        judged: tuple[Rated | Compared | Sentence, ...] = (*self.rated, *self.compared, *sentences)
        return max((len(each.references) for each in judged), default=0)


def with_references(suite: Suite, count: int, *, draw: int = 0) -> Suite:
    """The suite with at most ``count`` references beside each caption, drawn by image, count and draw.

    A suite whose publisher takes the first ones has its first ones.

    Both captions of a comparison, and all captions of an image whose references are the same, are held against the
    same ones; they keep the order of the file.
    ``draw``: number of the draw; another one gives other references."""

    def chosen(image: str, references: tuple[str, ...]) -> tuple[str, ...]:
        if len(references) <= count:
            return references
        if suite.first:
            return references[:count]
        rng = stream(RUN_SEED, "references", image, str(count), str(draw))
        return tuple(references[place] for place in sorted(rng.choice(len(references), size=count, replace=False)))

    return replace(
        suite,
        rated=tuple(replace(each, references=chosen(each.image, each.references)) for each in suite.rated),
        compared=tuple(
            replace(
                each,
                references=chosen(each.image, each.references),
                sentences=tuple(replace(one, references=chosen(each.image, one.references)) for one in each.sentences),
            )
            for each in suite.compared
        ),
    )


def only_images(suite: Suite, names: Iterable[str]) -> Suite:
    """The part of a suite whose images are named: a split.
    ``names``: of images as the suite has them, or their file names without folder and ending."""
    wanted = {key for name in names for key in (name, _stem(name))}

    def kept(image: str) -> bool:
        return image in wanted or _stem(image) in wanted

    rated = tuple(each for each in suite.rated if kept(each.image))
    compared = tuple(each for each in suite.compared if all(kept(image) for image, _ in each.sides))
    lost = len(suite.rated) + len(suite.compared) - len(rated) - len(compared)
    decision = Decision("split", "split", "only images of the given list are kept", lost, "judgements left out")
    return replace(suite, rated=rated, compared=compared, decisions=(*suite.decisions, decision))


def own_references(references: Sequence[str], *captions: str) -> tuple[str, ...]:
    """References of a caption, each once, without the caption itself and what it is compared with."""
    return tuple(text for text in dict.fromkeys(references) if text and text not in captions)


def texts(value: object) -> tuple[str, ...]:
    """The texts of a list of references, blanks made single; nothing where it is no list."""
    return tuple(spaced(each) for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def spaced(caption: str) -> str:
    """A caption on one line, with single blanks and without signs that nobody sees."""
    return " ".join(seen(caption).split())


def _stem(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2].rpartition(".")[0] or name


def own_name(path: Path, names: Sequence[str]) -> str:
    """The name that the rows of a suite of one's own give it.
    Raises BadCorpus if they give several, or that of a published suite."""
    if len(names) > 1:
        raise BadCorpus(f"{path} names {len(names)} suites, {names[0][:60]!r} and {names[1][:60]!r}; give one a file")
    name = spaced(names[0])[:MOST_NAME]
    if name.casefold() in {each.casefold() for each in PUBLISHED}:
        raise BadCorpus(f"{path}: {name!r} is the name of a published suite; call your own otherwise, in column suite")
    return name
