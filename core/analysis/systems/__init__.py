"""Captioners: leaderboards, what harmless edits and lengths do to them, the health of captions, the best of several."""
