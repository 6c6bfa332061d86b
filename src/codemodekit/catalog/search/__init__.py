"""`search_tools`: a few words in, the tools that are meant out, with how to call them, within a bounded answer.

Local, lexical and deterministic. `request` is what is asked, `query` what its words stand for, `index` what they match,
`ranking` in which order, `pages` which part of it, `answer` what is told; `tool_search` joins them.
"""
