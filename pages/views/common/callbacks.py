"""Callbacks of buttons, which Streamlit runs before a page: whoever pressed may have lost the right meanwhile."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from pages.views.common.access import may_operate

Given = ParamSpec("Given")


def operators_only(callback: Callable[Given, None]) -> Callable[Given, None]:
    """A callback that does nothing for a session that is not an operator's; the page that follows says so."""

    @wraps(callback)
    def guarded(*args: Given.args, **kwargs: Given.kwargs) -> None:
        if may_operate():
            callback(*args, **kwargs)

    return guarded
