"""Human validation: studies of perturbed pairs, their annotators, and votes that are only ever added.

It may import the store, from whose runs a study takes its items, and what makes a run's pictures again.
Start at :mod:`core.human.studies`; :mod:`core.store.log` is what keeps every vote.
"""

__all__ = ["creation", "exchange", "kinds", "ledger", "sampling", "studies"]
