"""Which crew does the work of an audit."""

from core.audit.workers.cluster import Cluster
from core.audit.workers.crew import Crew, Here
from core.audit.workers.processes import Processes
from core.errors import InvalidInput
from core.evaluators.pool import Pool


def crew(
    workers: int, pool: Pool, *, threads: int, renderers: int = 0, cluster: str | None = None, device: str | None = None
) -> Crew:
    """Choose who does the work.

    Args:
        workers: 1: this process; more: so many others, which share the pool's device and budget.
        threads: for one operation, in each.
        renderers: processes that render for each; 0: a thread of its own.
        cluster: address of a Ray cluster whose actors do it; None: this machine.
        device: of the actors; None: the best that each finds.

    Raises:
        InvalidInput: for a number out of its range, or more actors than the cluster has room for.
        NotAvailable: if no cluster answers, or Ray is not here.
    """
    for name, value, least in (("workers", workers, 1), ("threads", threads, 1), ("renderers", renderers, 0)):
        if value < least:
            raise InvalidInput(f"{name} must be at least {least}, got {value}")
    if cluster is not None:
        return Cluster(cluster, workers, device=device, intra_op=threads, renderers=renderers)
    if workers == 1:
        return Here(pool, threads, renderers)
    share = pool.budget_mb / workers
    return Processes(workers, device=pool.device, budget_mb=share, intra_op=threads, renderers=renderers)
