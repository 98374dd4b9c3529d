"""The family of errors that Invariscope raises on purpose.

Every message names what was wrong, the value received and what to do about it. Each class also
inherits the builtin that a caller would expect, so ``except ValueError`` keeps working. Pages and
the command line catch :class:`InvariscopeError` once and print its sentence; anything else is a bug.
"""


class InvariscopeError(Exception):
    """Root of the family: its text is one sentence that a person can act on."""


class InvalidInput(InvariscopeError, ValueError):
    """An argument, option, file or link from outside that cannot be used."""


class BadImage(InvalidInput):
    """An image that cannot be decoded safely (truncated, empty, too large, not an image)."""


class BadCorpus(InvalidInput):
    """A corpus folder or annotation file that does not have the shape its loader reads."""


class UnknownName(InvalidInput, LookupError):
    """A name that no registered evaluator, probe or corpus carries."""


class NotAvailable(InvariscopeError, RuntimeError):
    """Something that is known but not on this machine; the text says how to get it."""


class ScoringStopped(InvariscopeError, RuntimeError):
    """An evaluator that cannot go on for any pair, such as a spent budget or a refused key; the run can be resumed."""


class ProbeRejected(InvariscopeError):
    """A probe that cannot be applied to an item.
    ``code``: short stable word for counting, e.g. ``collision`` or ``no-mask``.
    ``detail``: one sentence for a reader."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail

    def to_keep(self) -> "ProbeRejected":
        """The same without its traceback, whose frames hold the pictures that were being worked on."""
        return ProbeRejected(self.code, self.detail)


class StoreError(InvariscopeError, OSError):
    """A run or a published file that cannot be written or read."""


def first_line(error: BaseException) -> str:
    """The first line of what somebody else's code says; the kind of error where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def in_one_line(error: BaseException) -> str:
    """What an error of somebody else's code says, with its kind, in one line of some 200 characters at most."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}{'…' if len(text) > 200 else ''}"
