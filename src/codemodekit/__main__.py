"""`python -m codemodekit`: the command line."""

from __future__ import annotations

from codemodekit.cli.main import main

main()
