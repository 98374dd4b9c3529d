"""How the work of a study is shared among its annotators, as its ledger stands.

Who annotates what: every item wanted times, every annotator about as much, nobody twice the same.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from core.features.human.ledger import Annotator, Ledger
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
    """Share what is still needed among those who annotate: annotator -> ids in the order in which they are shown.

    Items with the fewest annotators left to ask come first; each goes to those with the least work so far (done and
    planned). So loads differ by at most one where everybody may see everything and starts alike. An item that too few
    may see is short: it is not given to anybody twice.

    Args:
        annotators: those who go on working; who left is not among them, so what they left is shared anew.
        seen: annotator -> items that they answered or skipped; they are not asked again.
        votes: item -> votes that count.
        begun: annotator -> items that they have answered in part; these stay theirs.
        per_item: votes wanted for each item.
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
    """Mix attention items that the annotator has not seen into a queue, about evenly, up to a rate in [0, 0.5];
    everybody meets others at other places."""
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


JOINED_HOURS = 3.0
"""After so long without an answer what was given to a participant of Prolific is given to the next who comes too."""


def asked_items(ledger: Ledger, annotator: Annotator) -> list[str]:
    """Items that were given to an annotator, done or not, in order; practice items are not among them."""
    practised = ledger.exercises
    return [item for item in annotator.queue if item not in practised]


def waiting_items(ledger: Ledger, annotator: Annotator) -> list[str]:
    """Items planned for an annotator that they are not through with, in order."""
    return [item for item in asked_items(ledger, annotator) if not ledger.finished(annotator.id, item)]


def queue_of_newcomer(ledger: Ledger, name: str, *, count: int, now: float) -> tuple[str, ...]:
    """At most so many items, those with a known answer included, for somebody whom Prolific sends, in the order in
    which they are shown: those that lack most votes, and theirs for good. Empty where no item lacks a vote that is not
    promised already."""
    told, checks = ledger.definition, _checks(ledger)
    votes, held = ledger.votes(), _held(ledger, silent_since=now - JOINED_HOURS * 3600)
    lack = {item: told.per_item - votes[item] - held[item] for item in _plain(ledger)}
    open_items = [item for item, missing in lack.items() if missing > 0]
    lot = {item: float(stream(told.seed, "join", name, item).random()) for item in open_items}
    rate = ledger.attention_rate if checks else 0.0
    plain = max(count - min(round(count * rate), len(checks)), 1)
    chosen = sorted(open_items, key=lambda item: (-lack[item], lot[item]))[:plain]
    queue = sorted(chosen, key=lambda item: float(stream(told.seed, "order", name, item).random()))
    spare = sorted(checks, key=lambda item: float(stream(told.seed, "check", name, item).random()))[: count - plain]
    return mix(queue, spare, rate=rate, annotator=name, seed=told.seed)


def left_behind(ledger: Ledger, asking: Annotator, *, silent_since: float) -> list[str]:
    """Other annotators who have work left and have said nothing since a time, in seconds since 1970."""
    others = [each for each in ledger.annotators.values() if each.id != asking.id and not each.away and each.active]
    return [
        each.id
        for each in others
        if waiting_items(ledger, each) and (each.last or each.since or silent_since) < silent_since
    ]


def shared_queues(ledger: Ledger) -> dict[str, tuple[str, ...]]:
    """Queues of all annotators when what is still needed is shared anew; empty for those who do not work now.

    Participants of Prolific keep theirs, unless practice turned them away.
    """
    told = ledger.definition
    people = ledger.annotators.values()
    working = [each.id for each in people if each.active and each.pid is None and _works(ledger, each)]
    through = {name: [item for item in ledger.by_id if ledger.finished(name, item)] for name in working}
    begun = {
        name: [item for (other, item) in ledger.entries if other == name and item not in through[name]]
        for name in working
    }
    votes, held = ledger.votes(), _held(ledger)
    given, wanted = {item: votes[item] + held[item] for item in votes}, told.per_item
    queues = assign(_plain(ledger), working, seen=through, votes=given, begun=begun, per_item=wanted, seed=told.seed)
    mixed = {each.id: each.queue for each in people if each.pid is not None and ledger.passed(each) is not False}
    for name, queue in queues.items():
        unseen = [item for item in _checks(ledger) if item not in through[name]]
        mixed[name] = mix(queue, unseen, rate=ledger.attention_rate, annotator=name, seed=told.seed)
    return {name: mixed.get(name, ()) for name in ledger.annotators}


def _plain(ledger: Ledger) -> list[str]:
    practised = ledger.exercises
    return [item.id for item in ledger.definition.items if not item.attention and item.id not in practised]


def _checks(ledger: Ledger) -> list[str]:
    """Items with a known answer that nobody was told."""
    practised = ledger.exercises
    return [item.id for item in ledger.definition.items if item.attention and item.id not in practised]


def _works(ledger: Ledger, annotator: Annotator) -> bool:
    return not annotator.away and ledger.passed(annotator) is not False


def _held(ledger: Ledger, *, silent_since: float = 0.0) -> Counter[str]:
    """How many participants of Prolific each item waits for."""
    held = Counter[str]()
    for each in ledger.annotators.values():
        if each.pid is not None and each.active and _works(ledger, each) and (each.last or 0.0) >= silent_since:
            held.update(waiting_items(ledger, each))
    return held
