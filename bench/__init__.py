"""Measures codemodekit beside FastMCP's code mode where the same work exists there: `python -m bench`."""
