"""Public test helpers: fakes of every contract and the suites an implementation of a contract must pass."""

from codemodekit.testing.compiler_checks import COMPILER_CHECKS, CompilerCheck
from codemodekit.testing.expecting import ConformanceError
from codemodekit.testing.in_memory_provider import Gate, InMemoryProvider
from codemodekit.testing.javascript_checks import JAVASCRIPT_CHECKS, JAVASCRIPT_GLOBALS
from codemodekit.testing.provider_checks import PROVIDER_CHECKS, Probe, ProviderCheck, ProviderSubject
from codemodekit.testing.sandbox_checks import CALLING, ENDLESS, RETURNING, SANDBOX_CHECKS, SandboxCheck
from codemodekit.testing.scripted_sandbox import HANG, Move, ScriptedGuest, ScriptedSandbox

__all__ = [
    "CALLING",
    "COMPILER_CHECKS",
    "ENDLESS",
    "HANG",
    "JAVASCRIPT_CHECKS",
    "JAVASCRIPT_GLOBALS",
    "PROVIDER_CHECKS",
    "RETURNING",
    "SANDBOX_CHECKS",
    "CompilerCheck",
    "ConformanceError",
    "Gate",
    "InMemoryProvider",
    "Move",
    "Probe",
    "ProviderCheck",
    "ProviderSubject",
    "SandboxCheck",
    "ScriptedGuest",
    "ScriptedSandbox",
]
