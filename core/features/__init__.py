"""The features: what is made of the trunk, a folder each, and what each of them hands to it.

A feature may import the trunk and the helpers of the commands. The trunk imports none: it follows the names of a
:class:`core.features.feature.Feature` where they are asked for. Start at :mod:`core.features.feature`; every module
beside it has one ``FEATURE``, :mod:`core.features.trunk` that of the trunk's own pages and commands.
"""

__all__ = ["feature", "trunk"]
