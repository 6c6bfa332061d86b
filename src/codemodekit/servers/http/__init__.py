"""Code Mode over Streamable HTTP: an ASGI application, who may use it, how much at once, and how it ends.

Knows the SDK's session manager and nothing of sources or sandboxes; a Code Mode is handed in.
"""

from __future__ import annotations

from codemodekit.servers.http.auth import Authentication, Verifier
from codemodekit.servers.http.serve import serve_code_mode_http, serve_http

__all__ = ["Authentication", "Verifier", "serve_code_mode_http", "serve_http"]
