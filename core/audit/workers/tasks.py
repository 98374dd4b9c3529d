"""What an audit gives its workers to do, and what they give back."""

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from core.audit.plan import Plan
from core.audit.shards import Finished, ShardCounts
from core.audit.workers.embedded_captions import Prompts
from core.corpora.schema import Item
from core.errors import InvalidInput
from core.evaluators.base import Evaluator


@dataclass(frozen=True, slots=True)
class Loaded:
    """An evaluator that a worker has loaded.
    ``full_batch``: images and captions that it asks for in one call.
    ``caption_key``: of a dual encoder; evaluators of equal ones embed captions alike. Else empty."""

    told: dict[str, Any]
    full_batch: int
    caption_key: str


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker must know beside its tasks."""

    run: str
    plan: Plan  # without its items
    videos: bool  # whether the items are videos
    names: tuple[str, ...]  # names of the evaluators in the run's tables, in the plan's order
    keys: Mapping[str, str]  # their fingerprints, by reference
    batches: Mapping[str, int]  # images and captions in one call, by reference

    @property
    def kinds(self) -> dict[str, type[Evaluator]]:
        """Classes of the evaluators, as they score such items."""
        return dict(zip(self.plan.evaluators, self.plan.kinds_for(videos=self.videos), strict=True))


@dataclass(frozen=True, slots=True)
class Shard:
    """Items whose rows are written together.
    ``there``: files that the audit sees, for a worker of another machine, which must see them too."""

    index: int
    items: tuple[Item, ...]
    there: tuple[Path, ...] = ()

    def check(self) -> None:
        """Find out whether this machine sees the files. Raises InvalidInput naming one that it lacks."""
        lacking = next((path for path in self.there if not path.exists()), None)
        if lacking is not None:
            raise InvalidInput(
                f"the worker on {platform.node()} cannot read {lacking}, which the audit can; every "
                "node needs the corpus under the same path"
            )


@dataclass(frozen=True, slots=True)
class Known:
    """From here on, captions that were embedded are found here, by the evaluator's fingerprint.
    ``files``: that this machine sees. ``tables``: what they hold, for a worker of another machine."""

    files: Mapping[str, tuple[Path, ...]]
    tables: Mapping[str, tuple[pa.Table, ...]] = field(default_factory=dict)


Task = Prompts | Shard | Known


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds that an evaluator worked, and the images that it was given."""

    images: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Embedded:
    """Captions of a task. ``table``: of :func:`core.audit.workers.embedded_captions.caption_table`."""

    task: Prompts
    table: pa.Table
    counts: ShardCounts
    spent: Mapping[str, Spent]


@dataclass(frozen=True, slots=True)
class Made:
    """A shard.
    ``tables``: by name; what stands in their metadata is the caller's. ``spent``: by name of the evaluator."""

    index: int
    tables: Mapping[str, pa.Table]
    told: Finished
    spent: Mapping[str, Spent]


Result = Embedded | Made
NOBODY = -1  # in the place of an evaluator, where none works
Tell = Callable[[int, int, int], None]
"""Called with (index of a shard, variants of it that are dealt with, place of the evaluator in the plan, from 0)."""


def without_items(plan: Plan) -> Plan:
    """The plan as a worker needs it: items come with the tasks."""
    return replace(plan, corpus=replace(plan.corpus, items=(), rejected=()))
