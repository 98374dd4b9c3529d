"""A plug-in that a new version of something broke."""

raise RuntimeError("this plug-in was written for another year")
