"""From learnt terms to the file that applies them, and back."""

import numpy as np

from core.calibration.readings import Terms
from core.evaluators.calibrator import MOST_BYTES, Calibrator, apply, read_calibrator

__all__ = ["MOST_BYTES", "Calibrator", "apply", "calibrator", "read_calibrator", "terms_of"]


def calibrator(terms: Terms, *, strength: float, evaluator: str, fingerprint: str = "") -> Calibrator:
    """Put learnt terms and a chosen λ into what is exported."""
    return Calibrator(
        evaluator=evaluator,
        fingerprint=fingerprint,
        reading=terms.reading,  # type: ignore[arg-type]  # checked by the model
        strength=strength,
        weights=dict(terms.weights),
        shifts={name: dict(probes) for name, probes in terms.shifts.items()},
        family_shifts=dict(terms.family_shifts),
        quantiles={
            name: {probe: (pair[0].tolist(), pair[1].tolist()) for probe, pair in maps.items()}
            for name, maps in terms.quantiles.items()
        },
        ridge=terms.ridge,
    )


def terms_of(model: Calibrator) -> Terms:
    """The terms that a calibrator was made of."""
    return Terms(
        reading=model.reading,
        weights=dict(model.weights),
        shifts={name: dict(probes) for name, probes in model.shifts.items()},
        family_shifts=dict(model.family_shifts),
        quantiles={
            name: {probe: np.array(pair) for probe, pair in maps.items()} for name, maps in model.quantiles.items()
        },
        ridge=model.ridge,
    )
