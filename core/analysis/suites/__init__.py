"""Evaluators held to people's judgements: the numbers of a suite, its decisions, and the file that keeps both."""
