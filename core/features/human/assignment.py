"""Who annotates what: every item wanted times, every annotator about as much, nobody twice the same."""

from collections.abc import Collection, Mapping, Sequence

from core.seeds import stream


def assign(
    items: Sequence[str],
    annotators: Sequence[str],
    *,
    seen: Mapping[str, Collection[str]],
    votes: Mapping[str, int],
    begun: Mapping[str, Collection[str]] | None = None,
    per_item: int,
    seed: int,
) -> dict[str, tuple[str, ...]]:
    """Share what is still needed among those who annotate.

    Items with the fewest annotators left to ask come first; each goes to those with the least work so far (done and
    planned). So loads differ by at most one where everybody may see everything and starts alike.

    Args:
        items: ids of the items.
        annotators: those who go on working; who left is not among them, so what they left is shared anew.
        seen: annotator -> items that they answered or skipped; they are not asked again.
        votes: item -> votes that count.
        begun: annotator -> items that they have answered in part; these stay theirs.
        per_item: votes wanted for each item.
        seed: seed of the orders.

    Returns:
        annotator -> ids in the order in which they are shown. An item that too few may see is short: it is not
        given to anybody twice.
    """
    names = sorted(annotators)
    started = {name: set((begun or {}).get(name, ())) for name in names}
    done = {name: set(seen.get(name, ())) for name in names}
    load = {name: len(done[name]) for name in names}
    queues: dict[str, list[str]] = {name: [] for name in names}
    known = set(items)
    for name in names:
        for item in sorted(started[name] & known - done[name]):
            queues[name].append(item)
            load[name] += 1
    rank = {item: float(stream(seed, "item", item).random()) for item in items}
    lot = {name: float(stream(seed, "annotator", name).random()) for name in names}
    eligible = {item: [name for name in names if item not in done[name] | started[name]] for item in items}
    for item in sorted(items, key=lambda each: (len(eligible[each]), rank[each])):
        held = sum(item in started[name] - done[name] for name in names)
        needed = per_item - votes.get(item, 0) - held
        for name in sorted(eligible[item], key=lambda each: (load[each], lot[each]))[: max(needed, 0)]:
            queues[name].append(item)
            load[name] += 1
    return {name: tuple(_ordered(name, queues[name], started[name], seed)) for name in names}


def mix(queue: Sequence[str], attention: Sequence[str], *, rate: float, annotator: str, seed: int) -> tuple[str, ...]:
    """Mix attention items into a queue, about evenly.

    Args:
        queue: items still to show.
        attention: attention items that the annotator has not seen.
        rate: share of attention items in the mixture, in [0, 0.5].
        annotator: whose queue it is: everybody meets others at other places.
        seed: seed of the places.
    """
    count = min(round(len(queue) * rate / (1 - rate)), len(attention)) if queue else 0
    if count == 0:
        return tuple(queue)
    rng = stream(seed, "attention", annotator, str(len(queue)))
    chosen = sorted(attention, key=lambda each: float(stream(seed, "attention", annotator, each).random()))[:count]
    width = len(queue) / count
    places = [int(index * width + rng.uniform(0.1, 0.9) * width) for index in range(count)]
    mixed: list[str] = []
    for position, item in enumerate(queue):
        mixed += [each for each, place in zip(chosen, places, strict=True) if place == position]
        mixed.append(item)
    return tuple(mixed)


def _ordered(name: str, queue: Sequence[str], started: Collection[str], seed: int) -> list[str]:
    """Begun items first, the others in an order of the annotator's own that later changes do not stir."""
    return sorted(queue, key=lambda item: (item not in started, float(stream(seed, "order", name, item).random())))
