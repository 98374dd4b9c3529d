"""What the page Stories remembers in its link."""

from collections.abc import Sequence

from pages.views.common.slice_filters import read_switch
from pages.views.common.url_state import Field, PageState, one_of, text


def story_state(known: Sequence[str]) -> PageState:
    """Return the page's fields.

    Args:
        known: ids of the stories.
    """
    first = known[0] if known else ""
    return PageState(
        "stories",
        (
            Field("story", first, one_of(lambda: known, first, what="story")),
            Field("slide", "", text(limit=20)),
            Field("present", False, read_switch, lambda value: "yes" if value else "no"),
        ),
    )
