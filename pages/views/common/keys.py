"""How the values that every page is asked with enter the keys of caches."""

from collections.abc import Callable
from typing import Any

from core.analysis.questions import Options
from core.analysis.scope import Narrowed, Scope
from core.analysis.slices import Slice

KEYED: dict[str | type[Any], Callable[[Any], Any]] = {Narrowed: repr, Scope: repr, Slice: repr, Options: repr}
"""For ``hash_funcs``: their text says all of them, in a hundredth of the time that hashing part by part takes."""
