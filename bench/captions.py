"""Captions cut to their length against all 77 columns, ViT-B/32: ``python -m bench.captions``.

Both ways read the same captions of the demo corpus behind CLIPScore's prefix through the same weights, which are
random and loaded by the code that users run. The uncut way is open_clip's own ``encode_text``. How much the cut saves
depends on how long captions are, so short ones (templates) and long ones (sentences) are measured apart.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import torch

from bench.checkpoints import write
from bench.report import row
from core.corpora.registry import catalogue
from core.evaluators.memory import CPU_BATCH
from core.evaluators.registry import find
from core.evaluators.towers.encoder import Towers
from core.probes.words.templates import base_caption, item_label

CAPTIONS, REPEATS = 48, 5


def main(count: int = CAPTIONS, repeats: int = REPEATS) -> None:
    """Print a row for templates and one for sentences."""
    with tempfile.TemporaryDirectory() as folder:
        evaluator = find(write(Path(folder), ["clipscore"])["clipscore"]).load()
    items = catalogue().get("demo").load().items
    kinds = {
        "templates": {base_caption(item_label(item)) for item in items},
        "sentences": {item.captions["en"][0] for item in items},
    }
    for kind, captions in kinds.items():
        measure(evaluator._towers, kind, _sample(captions, count), repeats)  # type: ignore[attr-defined]


def measure(towers: Towers, kind: str, captions: Sequence[str], repeats: int) -> None:
    """Print the ratio of the processor's time a caption, what it is a ratio of, and how far the features are apart."""
    assert towers.causal is not None
    texts = [f"A photo depicts {caption}" for caption in captions]
    held = {len(rows[0]): len(rows) for _, rows in towers.causal.cut(towers.prompts.tokens(texts))}
    encode = towers.text.network.encode_text

    def whole() -> torch.Tensor:
        return towers.text.rows(texts, lambda part, device: encode(towers.prompts.tokens(part).to(device)))

    def cut() -> torch.Tensor:
        return towers.encode_texts(texts)

    apart = _apart(whole(), cut())
    mates = _apart(torch.cat([towers.encode_texts([text]) for text in texts]), cut())
    pairs = [(_cpu(whole), _cpu(cut)) for _ in range(repeats)]  # in turns: a busy machine slows both
    ratio = median(slow / fast for slow, fast in pairs)
    slow, fast = (1000 * median(each) / len(texts) for each in zip(*pairs, strict=True))
    columns = ", ".join(f"{number} at {length}" for length, number in held.items())
    row(
        f"{kind} cut to their length, against all {towers.prompts.limit} columns",
        f"{ratio:.1f} × less of the processor's time ({fast:.1f} for {slow:.1f} ms a caption); features at most "
        f"{apart:.1g} apart; alone and in a batch {mates:.1g}",
        f"ViT-B/32, random weights, CPU, {torch.get_num_threads()} threads, {len(texts)} captions of the demo corpus "
        f"({columns} columns), batches of {CPU_BATCH}, medians of {repeats}",
        "≥ 4 × at 16 columns",
    )


def _sample(captions: set[str], count: int) -> Sequence[str]:
    """Captions in the order in which an audit encodes them."""
    return sorted(sorted(captions)[:: max(1, len(captions) // count)][:count], key=lambda text: (len(text), text))


def _apart(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one - other).abs().max())


def _cpu(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
