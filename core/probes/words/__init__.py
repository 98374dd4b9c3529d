"""Edits of captions: grammar, lexicons, what fits what."""
