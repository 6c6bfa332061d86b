"""codemodekit: one small Code Mode surface in front of any number of tools."""
