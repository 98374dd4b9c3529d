"""What the groups of one shard bring, in the order of its items: the same for scores made here and elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from core.audit.plan import Plan
from core.audit.render import Opened
from core.audit.rows import Row, items_table, rejections_table, scores_table, variants_table
from core.corpora.schema import Item
from core.probes.pairs import Draft, LeftOut


@dataclass(slots=True)
class Gathered:
    """Rows, facts, items and reasons of one shard, added group by group.

    Args:
        rows: of the scores table, an evaluator's of a group one after the other.
        told: drafts whose facts are kept.
    """

    rows: list[Row] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    told: list[Draft] = field(default_factory=list)
    items: list[Opened] = field(default_factory=list)

    def sort(self, items: Sequence[Item]) -> None:
        """Put everything into the order of the shard's items; within an item it stays as it came."""
        order = {item.id: rank for rank, item in enumerate(items)}
        self.rows.sort(key=lambda row: order[row["item"]])  # stable: probes in their order, evaluators in theirs
        self.left_out.sort(key=lambda each: order[each.item])
        self.told.sort(key=lambda each: order[each.item.id])
        self.items.sort(key=lambda each: order[each.item.id])

    def tables(self, run: str, plan: Plan, metadata: Mapping[bytes, bytes]) -> dict[str, pa.Table]:
        """The shard's four tables.

        Args:
            metadata: of the scores, which says that the shard is finished.
        """
        corpus = plan.corpus.name
        return {
            "scores": scores_table(self.rows, metadata),
            "items": items_table(run, plan, self.items),
            "rejections": rejections_table(run, corpus, self.left_out),
            "variants": variants_table(run, corpus, self.told),
        }
