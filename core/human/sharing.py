"""How the work of a study is shared among its annotators, as its ledger stands."""

from core.human.assignment import assign, mix
from core.human.ledger import Annotator, Ledger


def waiting_items(ledger: Ledger, annotator: Annotator) -> list[str]:
    """Items planned for an annotator that they are not through with, in order."""
    return [item for item in annotator.queue if not ledger.finished(annotator.id, item)]


def left_behind(ledger: Ledger, asking: Annotator, *, silent_since: float) -> list[str]:
    """Other annotators who have work left and have said nothing since a time, in seconds since 1970."""
    others = [each for each in ledger.annotators.values() if each.id != asking.id and not each.away]
    return [
        each.id
        for each in others
        if waiting_items(ledger, each) and (each.last or each.since or silent_since) < silent_since
    ]


def shared_queues(ledger: Ledger) -> dict[str, tuple[str, ...]]:
    """Queues of all annotators when what is still needed is shared anew; empty for those who do not work now."""
    told = ledger.definition
    working = [each.id for each in ledger.annotators.values() if each.digest is not None and not each.away]
    through = {name: [item for item in ledger.by_id if ledger.finished(name, item)] for name in working}
    begun = {
        name: [item for (other, item) in ledger.entries if other == name and item not in through[name]]
        for name in working
    }
    plain = [item.id for item in told.items if not item.attention]
    checks = [item.id for item in told.items if item.attention]
    queues = assign(
        plain, working, seen=through, votes=ledger.votes(), begun=begun, per_item=told.per_item, seed=told.seed
    )
    mixed = {}
    for name, queue in queues.items():
        unseen = [item for item in checks if item not in through[name]]
        mixed[name] = mix(queue, unseen, rate=ledger.attention_rate, annotator=name, seed=told.seed)
    return {name: mixed.get(name, ()) for name in ledger.annotators}
