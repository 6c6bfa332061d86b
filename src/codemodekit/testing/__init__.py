"""Public test helpers: fakes of every contract and the suites an implementation of a contract must pass."""
