"""Memory that a process frees and needs again at once."""

import ctypes

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
"""Parameters of glibc's ``mallopt``; source: ``malloc.h``."""
_KEPT, _ADDED, _LARGE = 2**29, 2**26, 2**25
"""Bytes: kept at the end of the heap, asked for at once, and from which a block is mapped for itself."""


def keep_freed() -> None:
    """Let this process keep up to 512 MB that it frees, instead of giving them back and asking for them anew.

    An audit frees and takes images and features of some megabytes all the time, and the system fills every page that it
    hands out with zeros: about a tenth of an audit's work. Where the C library is not glibc, nothing is done.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for parameter, value in ((_TRIM_THRESHOLD, _KEPT), (_TOP_PAD, _ADDED), (_MMAP_THRESHOLD, _LARGE)):
        mallopt(parameter, value)
