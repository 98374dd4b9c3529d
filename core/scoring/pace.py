"""How long an evaluator takes for a pair: paper E, Conclusion, says 2.67 s of ProtoScore and 28.08 s of GPT-5."""

from core.evaluators.pool import Pool


def pace_told(pool: Pool, reference: str, *, seconds: float, pairs: int) -> str:
    """Say the seconds a pair of an evaluator that a pool holds, with the device that it is on.

    Args:
        pool: that lent it; it is still lent or loaded.
        reference: by which it was asked for.
        seconds: that scoring took: reading and editing of pictures included, loading of the model not.
        pairs: of picture and caption that have a score since.
    """
    if not pairs:
        return f"{reference}: no pair was scored, so none was timed"
    device = next((each.device for each in pool.loaded() if each.reference == reference), pool.device)
    counted = f"{pairs:,} pair" + "s" * (pairs > 1)
    return f"{reference}: {seconds / pairs:.3g} s a pair on {device}, over {counted}, without loading the model"
