"""What adapters to other people's packages share: whether a package is here, pictures as files, a digest of weights.

It may import what evaluators import; the packages themselves only when an evaluator of theirs is loaded.
Start at :mod:`core.evaluators.adapters.package`.
"""

__all__ = ["files", "package", "weights"]
