"""The kinds of study: which questions are asked, which answers they take, which keys give them."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import InvalidInput

SIDES = ("A", "B")  # how the two versions of an item are called in front of annotators: A is on the left, or above
PREFERENCE = "preference"
RATING = "rating"
TIE = "tie"

Value = int | str


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a question: its stored value, its words and the key that gives it."""

    value: Value
    label: str
    key: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question about an item."""

    name: str  # ``A`` or ``B`` for one version, ``preference``, or ``rating`` where only one version is shown
    text: str  # as annotators read it
    answers: tuple[Answer, ...]
    # asked only of those who gave this answer to the first question of the kind; None: asked of all
    after: Value | None = None

    def check(self, value: object) -> Value:
        """Return a value that is one of the answers; raises InvalidInput for any other."""
        for answer in self.answers:
            if type(answer.value) is type(value) and answer.value == value:
                return answer.value
        known = ", ".join(str(answer.value) for answer in self.answers)
        raise InvalidInput(f"question {self.name!r} takes {known}, got {str(value)[:40]!r}")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of study."""

    name: str
    title: str
    summary: str
    questions: tuple[Question, ...]
    sides: int  # versions shown on one screen: 2, or 1 for single images
    scale: tuple[str, ...]  # labels of the answers about a version, lowest first
    lowest: int  # value of the first of them
    source: str  # paper and section

    def question(self, name: object) -> Question:
        """Return a question by name; raises InvalidInput if the kind does not ask it."""
        for question in self.questions:
            if question.name == name:
                return question
        known = ", ".join(question.name for question in self.questions)
        raise InvalidInput(f"a study of kind {self.name!r} asks {known}, got {str(name)[:40]!r}")

    @property
    def always(self) -> tuple[str, ...]:
        """Names of the questions that are asked of everybody."""
        return tuple(each.name for each in self.questions if each.after is None)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Names of the questions that are asked after an answer, each with *no* (0) and *yes* (1)."""
        return tuple(each.name for each in self.questions if each.after is not None)

    def due(self, answers: Mapping[str, object]) -> tuple[str, ...]:
        """Names of the questions that these answers call for, answered or not."""
        first = answers.get(self.questions[0].name)
        return tuple(each.name for each in self.questions if each.after is None or each.after == first)

    def share(self, value: float) -> float:
        """Place a value of the scale in [0, 1], lowest answer 0, highest 1."""
        return (value - self.lowest) / (len(self.scale) - 1)


ACCEPTABILITY_SCALE = ("incorrect", "partially correct", "fully correct")
RATING_SCALE = ("poor match", "one major mistake", "mostly correct", "perfect match")


def _scale(labels: tuple[str, ...], lowest: int, keys: str) -> tuple[Answer, ...]:
    return tuple(Answer(lowest + index, label, keys[index]) for index, label in enumerate(labels))


def _preference(keys: str) -> Question:
    words = ((SIDES[0], "A is better"), (SIDES[1], "B is better"), (TIE, "equally good"))
    answers = tuple(Answer(value, label, key) for (value, label), key in zip(words, keys, strict=True))
    return Question(PREFERENCE, "Which is better, or are they equally good?", answers)


_HOW_WELL = "How well does this caption describe the image?"

ACCEPTABILITY = Kind(
    "acceptability",
    "Acceptability and preference",
    "Each person compares two versions of one item: how well does each caption describe its image, and which is "
    "better?",
    (
        Question("A", _HOW_WELL, _scale(ACCEPTABILITY_SCALE, 0, "123")),
        Question("B", _HOW_WELL, _scale(ACCEPTABILITY_SCALE, 0, "456")),
        _preference("789"),
    ),
    sides=2,
    scale=ACCEPTABILITY_SCALE,
    lowest=0,
    source="paper A, A.11",
)

SINGLE = Kind(
    "rating",
    "Four-point rating of single images",
    "One image with its caption, rated from 1 to 4 for what it means, not for how it looks.",
    (Question(RATING, "How well does this image match the caption?", _scale(RATING_SCALE, 1, "1234")),),
    sides=1,
    scale=RATING_SCALE,
    lowest=1,
    source="paper E, 5.2",
)

PAIRED_RATING = Kind(
    "preference",
    "Preference with four-point ratings",
    "Two versions of one item, each rated from 1 to 4, then which is better.",
    (
        Question("A", "How well does this image match the caption?", _scale(RATING_SCALE, 1, "1234")),
        Question("B", "How well does this image match the caption?", _scale(RATING_SCALE, 1, "5678")),
        _preference("90T"),
    ),
    sides=2,
    scale=RATING_SCALE,
    lowest=1,
    source="paper E, 5.2 and Table 1",
)

CORRECTNESS_SCALE = ("not correct", "correct")


def _reason(name: str, text: str, keys: str) -> Question:
    answers = (Answer(0, "no", keys[0]), Answer(1, "yes", keys[1]))
    return Question(name, text, answers, after=0)


CORRECTNESS = Kind(
    "correctness",
    "Correct or not, and why",
    "One image with its caption: is the caption correct, and if not, what is wrong with it? Several reasons may hold.",
    (
        Question(RATING, "Is this caption correct for the image?", _scale(CORRECTNESS_SCALE, 0, "12")),
        _reason("ungrammatical", "Is it ungrammatical?", "34"),
        _reason("incomplete", "Is it incomplete?", "56"),
        _reason("not in the picture", "Does it say what is not in the picture?", "78"),
    ),
    sides=1,
    scale=CORRECTNESS_SCALE,
    lowest=0,
    source="paper D, 4.1",
)

KINDS = {kind.name: kind for kind in (ACCEPTABILITY, SINGLE, PAIRED_RATING, CORRECTNESS)}


def kind_of(name: object) -> Kind:
    """Return a kind by name; raises InvalidInput if there is none."""
    if name not in KINDS:
        raise InvalidInput(f"a study is of kind {', '.join(KINDS)}, got {str(name)[:40]!r}")
    return KINDS[str(name)]
