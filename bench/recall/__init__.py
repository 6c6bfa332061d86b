"""Whether `search_tools` finds what is meant, however many tools there are: made-up catalogues, queries, a judge."""
