"""BLEU, ROUGE-L and CIDEr-D of many captions, tokenizer included, against pycocoevalcap in the same run."""

import csv
import random
import time

import numpy as np

from bench.report import row
from core.scoring.reference_metrics import BLEU, CIDER, ROUGE, compare
from core.settings import assets_dir
from tools.treebank_words import published_tokenizer

CAPTIONS, REFERENCES = 20_000, 5


def drawn_captions(rng: random.Random, sentences: list[str]) -> tuple[list[str], list[list[str]]]:
    """Captions and references: beginnings and ends of sentences by people, a reference in two made of its caption."""

    def joined() -> str:
        one, other = rng.choice(sentences).split(), rng.choice(sentences).split()
        return " ".join([*one[: rng.randint(2, len(one))], *other[len(other) // 2 :]])

    captions = [joined() for _ in range(CAPTIONS)]
    halves = [[(caption.split(), joined().split()) for _ in range(REFERENCES)] for caption in captions]
    return captions, [[" ".join(a[: rng.randint(0, len(a))] + b) for a, b in held] for held in halves]


def published(captions: list[str], references: list[list[str]]) -> dict[str, float]:
    """Means by pycocoevalcap."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    with published_tokenizer() as tokenizer:
        own = tokenizer.tokenize({place: [{"caption": text}] for place, text in enumerate(captions)})
        theirs = tokenizer.tokenize(
            {place: [{"caption": each} for each in held] for place, held in enumerate(references)}
        )
    bleu = Bleu(4).compute_score(theirs, own, verbose=0)[0]
    rouge, cider = Rouge().compute_score(theirs, own)[0], Cider().compute_score(theirs, own)[0]
    return dict(zip((*BLEU, ROUGE, CIDER), [*bleu, rouge, cider], strict=True))


def main() -> None:
    """Print the ratio and how far the numbers lie apart."""
    with (assets_dir() / "demo" / "captions.csv").open(encoding="utf-8") as file:
        sentences = [text for text in (record["en"] for record in csv.DictReader(file)) if len(text.split()) > 3]
    captions, references = drawn_captions(random.Random(0), sentences)
    compare(captions[:10], references[:10])
    start = time.perf_counter()
    ours = compare(captions, references).means
    between = time.perf_counter()
    theirs = published(captions, references)
    ratio = (time.perf_counter() - between) / (between - start)
    apart = np.max(np.abs([ours[name] - value for name, value in theirs.items()]))
    row(
        "BLEU, ROUGE-L, CIDEr-D with their tokenizer against pycocoevalcap",
        f"{ratio:.1f} × faster, {apart:.0e} apart",
        f"{CAPTIONS:,} captions, {REFERENCES} references each",
        "≥ 5 ×, ≤ 1e-9",
    )


if __name__ == "__main__":
    main()
