"""Whether Ray, the optional extra of clusters, is here."""

from importlib.util import find_spec

GET = "python -m pip install --no-deps --require-hashes -r requirements-cluster.txt"
"""The command that brings what a cluster needs."""


def has_ray() -> bool:
    """Whether the optional extra is installed; nothing is imported."""
    found = find_spec("ray")
    return found is not None and found.origin is not None  # a folder of that name has none
