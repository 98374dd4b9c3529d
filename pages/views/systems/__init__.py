"""Views of the page Leaderboard."""
