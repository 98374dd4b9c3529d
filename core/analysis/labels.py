"""Where the labels of a run's items come from, in words, as its manifest tells."""

from collections.abc import Iterable, Mapping

from core.store.manifest import Run


def labels_said(runs: Iterable[Run], chosen: Iterable[str]) -> tuple[str, ...]:
    """Say for each chosen run in which captions gave labels how many items got one, and by which tagger.

    Args:
        runs: that are open.
        chosen: ids of the runs that numbers are of.
    """
    wanted = set(chosen)
    told = [(run.id, run.manifest["corpus"]) for run in runs if run.id in wanted]
    return tuple(sentence for name, corpus in told if (sentence := _said(name, corpus.get("labels"))))


def _said(run: str, labels: object) -> str:
    counts = {} if not isinstance(labels, Mapping) else labels
    known = {str(name): count for name, count in counts.items() if isinstance(count, int) and count > 0}
    read = {name: count for name, count in known.items() if name not in ("annotation", "none")}
    if not read:
        return ""
    total = sum(known.values())
    parts = [
        f"{count} of {total} items of run {run} ({100 * count / total:.0f} %) have a noun of their caption for a "
        f"label, read by {name}"
        for name, count in read.items()
    ]
    for name, rest in _REST.items():
        if count := known.get(name, 0):
            parts.append(f"{count} {'has' if count == 1 else 'have'} {rest}")
    return f"{'; '.join(parts)}."


_REST: Mapping[str, str] = {
    "annotation": "the label of the source",
    "none": "none, since nobody can tell what the caption is about",
}
