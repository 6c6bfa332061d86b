"""Stands in for setuptools while pip asks the source distribution for its metadata, so that nothing of it is run."""
