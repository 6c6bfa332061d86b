"""The command line: one module a command, each imported only when that command is asked for."""
