"""The shipped self-check is of the shipped run's items, and what the code computes."""

from core.analysis.reading import read_table
from core.features.selfcheck.detection import DRIFT, selfcheck
from core.features.selfcheck.kept_selfchecks import digest_of, of_table
from core.features.selfcheck.planted_audit import PlantedAudit, items_of, sources_of
from core.settings import results_dir
from core.store.store import Store


def test_the_first_repeats_of_the_shipped_selfcheck_are_made_again() -> None:
    with Store.open([results_dir() / "demo"]) as store:
        table = read_table(store)
    shipped = of_table(table)
    assert shipped is not None
    assert (shipped.items, shipped.compared > 0, shipped.apart) == (len(table.items), True, 0)
    items = items_of(table)
    assert shipped.digest == digest_of(items)
    audit = PlantedAudit(table.scope.corpus, items, sources_of(table))
    again = selfcheck(audit, shipped.digest, repeats=2, seed=shipped.seed)
    pictures = [each for each in shipped.tried if each.finding == DRIFT]
    assert [each.found for each in again.tried] == [each.found[:2] for each in pictures]
