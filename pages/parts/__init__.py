"""Pieces that several pages share; the pages themselves are the files beside this folder."""
