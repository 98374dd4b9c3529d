"""What a worker hears and says, wherever it runs: in a process of this machine or on a node of a cluster."""

import traceback
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import cv2

import core
from core.audit.plan import Plan
from core.audit.prefetch import Inbox
from core.audit.workers.making import Maker, load_all, threads
from core.audit.workers.renderers import Renderers
from core.audit.workers.tasks import Loaded, Result
from core.errors import InvalidInput, InvariscopeError
from core.evaluators.pool import Pool
from core.registry import STRANGERS


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message to a worker.

    Args:
        plan: without its items.
        budget_mb: most memory for its weights, in MB; None: what its own machine gives.
        intra_op: threads for one operation.
        renderers: processes that render for it; 0: its own thread.
        version: of Invariscope.
    """

    plan: Plan
    videos: bool
    device: str | None
    budget_mb: float | None
    intra_op: int
    renderers: int = 0
    version: str = core.__version__


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has loaded its evaluators."""

    described: list[Loaded]
    device: str


@dataclass(frozen=True, slots=True)
class Told:
    """How far a worker is with a shard, and which evaluator works, by its place in the plan."""

    index: int
    variants: int
    rank: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A worker raised what the run cannot go on after.

    Args:
        kind: name of the error's class.
        trace: its traceback, where it is none of ours.
    """

    kind: str
    error: str
    trace: str = ""


Message = Ready | Told | Failed | Result
"""What a worker says."""


def serve(inbox: Inbox[Any], send: Callable[[Message], None]) -> None:
    """Do what comes in until nothing comes any more: Hello, then Work, then tasks.

    Args:
        send: tells the audit; what it raises ends the worker.
    """
    try:
        _serve(inbox, send)
    except InvariscopeError as error:
        send(Failed(type(error).__name__, str(error)))
    except STRANGERS as error:  # the audit says it; nobody else would
        send(Failed(type(error).__name__, str(error), traceback.format_exc()))


def _serve(inbox: Inbox[Any], send: Callable[[Message], None]) -> None:
    hello: Hello = next(inbox)
    if hello.version != core.__version__:
        raise InvalidInput(
            f"the audit is of Invariscope {hello.version} and a worker of {core.__version__}; "
            "install the same on every machine"
        )

    def tell(index: int, variants: int, rank: int) -> None:
        send(Told(index, variants, rank))

    pool = Pool(hello.budget_mb, hello.device)
    cv2.setNumThreads(hello.intra_op)
    with ExitStack() as stack:
        stack.enter_context(threads(hello.intra_op))
        renderers = stack.enter_context(Renderers(hello.renderers))
        described = load_all(hello.plan, videos=hello.videos, pool=pool, stack=stack, tell=tell)
        send(Ready(described, pool.device))
        for work in inbox:
            maker = Maker(work, pool, tell, renderers=renderers)
            for result in maker.each(inbox):
                send(result)
