"""H from references: how a run's captions stand beside the other captions that its corpus has of the same images.

BLEU-4, METEOR, ROUGE-L and CIDEr-D never see an image, so no edit of it moves them: that makes them an order of the
unedited pairs which a calibration can be held to, and no evaluator that an audit could ask.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from core.analysis.scope import Narrowed
from core.analysis.table import ScoreTable
from core.audit.record import corpus_again
from core.corpora.schema import Corpus
from core.errors import InvalidInput
from core.evaluators.references import BY_WORDS, references_of
from core.probes.base import ENGLISH, HUMAN, IDENTITY
from core.scoring.reference_metrics import CIDER, LEAST_PICTURES, METEOR, NAMED, compare, fingerprint
from core.store.run_files import Run


@dataclass(frozen=True, slots=True)
class ReferenceOrder:
    """What references say of the unedited captions of a run."""

    # by name of BY_WORDS, float64 by (corpus, item); an item without references has none
    values: Mapping[str, pd.Series]
    n: int  # items that have one
    items: int  # of the run, with a caption
    told: tuple[str, ...]  # what these numbers are of, one sentence an entry


def asked_for(names: Sequence[str] | None, evaluators: Sequence[str]) -> tuple[str, ...]:
    """Which of the names are of these metrics; an evaluator of the run that has such a name is what its name says."""
    return tuple(name for name in dict.fromkeys(names or ()) if name in BY_WORDS and name not in evaluators)


def unedited_captions(table: ScoreTable) -> pd.DataFrame:
    """Captions of the unedited pairs: columns corpus, item, probe, caption; the store must be open."""
    if table.texts is None:
        return pd.DataFrame(columns=["corpus", "item", "probe", "caption"])
    return table.texts([IDENTITY])


def reference_order(
    captions: pd.DataFrame,
    scope: Narrowed,
    run: Run,
    names: Sequence[str],
    *,
    root: Path | None = None,
    options: Mapping[str, str] | None = None,
) -> ReferenceOrder:
    """Compare the unedited captions of a run with the other captions of their images, by the corpus as it lies here.

    A caption is never among its own references. CIDEr-D weighs words by the references of every item of the run that
    has some, on either split and in or out of a slice. Raises NotAvailable if the corpus is not here, or METEOR cannot
    be computed here; InvalidInput if the captions are not English, are not those of the corpus any more, or too few
    images have another caption.
    """
    listed = ", ".join(names)
    if scope.language != ENGLISH:
        raise InvalidInput(f"{listed} cut captions into English words, and these are {scope.language}; leave them out")
    name = str(run.manifest["corpus"]["name"])
    rows = captions[captions["corpus"] == name].drop_duplicates(["corpus", "item"])
    if rows.empty:
        raise InvalidInput(f"the run has no unedited caption of corpus {name}; audit the unedited pairs")
    held = rows.set_index(["corpus", "item"])["caption"].astype(str)
    corpus = corpus_again(run, root=root, options=options)
    references = _references(held, corpus, run.id, own=scope.subject == HUMAN)
    have = sum(map(bool, references))
    if have < LEAST_PICTURES:
        raise InvalidInput(
            f"{listed} compare a caption with other captions of its image, and {have} of {len(held)} items of corpus "
            f"{corpus.name} have another; {LEAST_PICTURES} are needed: leave them out, or add captions"
        )
    found = compare(held.tolist(), references, meteor=METEOR in [NAMED[name] for name in names])
    values = {name: pd.Series(found.per_caption[NAMED[name]], index=held.index) for name in names}
    each = np.mean([len(texts) for texts in references if texts])
    said = [
        f"{listed}: the {scope.subject} captions of {found.n:,} of {len(held):,} items beside the other "
        f"captions of their images in corpus {corpus.name}, {each:.1f} each on average, by {fingerprint()}"
    ]
    if any(NAMED[name] == CIDER for name in names):
        said.append(f"document frequencies of CIDEr-D: the references of these {have:,} images")
    return ReferenceOrder(values, found.n, len(held), tuple(said))


def _references(held: pd.Series, corpus: Corpus, run: str, *, own: bool) -> list[tuple[str, ...]]:
    """The other captions of every item, without the scored one; InvalidInput if an item is gone, or its caption
    changed."""
    items, found, changed = corpus.by_id(), list[tuple[str, ...]](), list[str]()
    for name, caption in zip(held.index.get_level_values("item"), held, strict=True):
        item = items.get(str(name))
        if item is None or (own and caption not in item.captions.get(ENGLISH, ())):
            changed.append(str(name))
            continue
        found.append(references_of(item.captions, caption, language=ENGLISH))
    if changed:
        raise InvalidInput(
            f"corpus {corpus.name} is not the one that run {run} scored: {len(changed)} items are gone or have another "
            f"caption, such as {changed[0]!r}; put the old files back, or audit the corpus again"
        )
    return found
