"""The trusted border between a program's calls and the sources: admit, ask the policy, call, bound the result."""
