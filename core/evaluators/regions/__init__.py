"""Regions of a picture: the detector that finds them, the files that hold them, the model that reads them."""
