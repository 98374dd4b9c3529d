from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from core.features.human.sharing import assign, mix

NAMES = ["a01", "a02", "a03", "a04", "a05"]


@settings(max_examples=60, deadline=None)
@given(count=st.integers(0, 30), people=st.integers(0, 5), per_item=st.integers(1, 4), seed=st.integers(0, 99))
def test_fresh_work_is_shared_evenly_and_nobody_sees_an_item_twice(
    count: int, people: int, per_item: int, seed: int
) -> None:
    items = [f"{number:04d}" for number in range(count)]
    queues = assign(items, NAMES[:people], seen={}, votes={}, per_item=per_item, seed=seed)
    given_out = Counter(item for queue in queues.values() for item in queue)
    assert all(given_out[item] == min(per_item, people) for item in items)
    assert all(len(set(queue)) == len(queue) for queue in queues.values())
    loads = [len(queue) for queue in queues.values()]
    assert not loads or max(loads) - min(loads) <= 1


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_later_sharing_fills_what_is_short_and_asks_nobody_again(data: st.DataObject) -> None:
    items = [f"{number:04d}" for number in range(data.draw(st.integers(1, 15)))]
    seen = {name: data.draw(st.sets(st.sampled_from(items))) for name in NAMES}
    working = data.draw(st.lists(st.sampled_from(NAMES), unique=True))
    begun = {name: data.draw(st.sets(st.sampled_from(items))) - seen[name] for name in working}
    votes = {item: sum(item in seen[name] for name in NAMES) for item in items}
    queues = assign(items, working, seen=seen, votes=votes, begun=begun, per_item=3, seed=1)
    for name, queue in queues.items():
        assert not set(queue) & seen[name]
        assert begun[name] <= set(queue)
        assert len(set(queue)) == len(queue)
    for item in items:
        planned = sum(item in queue for queue in queues.values())
        may = sum(item not in seen[name] for name in working)
        held = sum(item in begun[name] for name in working)
        assert planned == min(max(3 - votes[item], held), may)


def test_the_order_of_an_annotator_is_their_own_and_stays_when_work_is_shared_anew() -> None:
    items = [f"{number:04d}" for number in range(20)]
    first = assign(items, ["a01", "a02", "a03"], seen={}, votes={}, per_item=3, seed=5)
    assert first["a01"] != first["a02"] != first["a03"]
    again = assign(items, ["a01", "a02", "a03", "a04"], seen={}, votes={}, per_item=3, seed=5)
    kept = set(again["a01"])
    assert [item for item in first["a01"] if item in kept] == list(again["a01"])


@given(count=st.integers(0, 60), rate=st.floats(0, 0.5), checks=st.integers(0, 40), seed=st.integers(0, 9))
def test_attention_items_come_at_their_rate_and_disturb_no_order(
    count: int, rate: float, checks: int, seed: int
) -> None:
    queue = [f"{number:04d}" for number in range(count)]
    attention = [f"x{number}" for number in range(checks)]
    mixed = mix(queue, attention, rate=rate, annotator="a01", seed=seed)
    assert [item for item in mixed if item in queue] == queue
    wanted = min(round(count * rate / (1 - rate)), checks) if count else 0
    assert len(mixed) - count == wanted
    assert len(set(mixed)) == len(mixed)
