"""Edits of pixels, as pure functions and as moves of an object."""
