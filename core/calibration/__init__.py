"""Calibration: the readings of one formula, its sweep over λ, its effect, and the file that carries it.

It may import the statistics, the store, the audit and the analysis; the formulas themselves see only arrays.
Start at :mod:`core.calibration.readings`.
"""

__all__ = ["effect", "fit", "measured", "measuring", "orbits", "readings", "sweep"]
