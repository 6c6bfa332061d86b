"""The promises of the kit, each under an id: what the tests prove.

A test names the ids it proves: `@pytest.mark.proves("result.location")`, or `pytestmark = pytest.mark.proves(...)` for
a whole module. `tests/conftest.py` refuses a test that names none or one that is not in this list, and
`tests/test_requirements.py` fails when an id of this list has no test.

An id is a section and the promise's own name. A promise that is not kept whole is not listed as if it were: what falls
short is said in `docs/security.md` or in the page of the feature.
"""

from __future__ import annotations

REQUIREMENTS: dict[str, str] = {
    # -- the Python face ---------------------------------------------------------------------------------------------
    "api.policy-required": "A policy is given explicitly; without one nothing starts.",
    "api.construction-checked": "A duplicate or empty source name, an unknown limit or a limit that is no positive "
    "integer is a typed error at construction.",
    "api.run-never-raises": "`run` resolves to a result whatever the program, a tool or a source does.",
    "api.cancel": "Cancelling the awaiting task or its scope cancels the run.",
    "api.close": "Closing twice is fine; use after closing says so.",
    "api.local-tools": "A Python function becomes a tool: schemas from hints or given, sync ones in a thread, async "
    "ones on the loop, with a context when it asks for one.",
    "api.local-results": "A local tool's return value becomes structured content and one text block; a `ToolResult` "
    "passes as it is.",
    "api.tool-error": "The message of a `ToolError` is shown to the model; that of any other exception is not.",
    "api.content-blocks": "Text, image, audio, resource, resource link and unknown content blocks are all kept.",
    "api.trusted-side": "Host code can receive the original of a result, the record behind a correlation id and a "
    "definition's sideband; a program cannot.",
    # -- the result --------------------------------------------------------------------------------------------------
    "result.wire-form": "The result has exactly the documented fields, in Python and as JSON.",
    "result.location": "A location and a stack are 1-based, in UTF-16 units, in the program's own text, whatever was "
    "erased, recovered or transformed.",
    "result.frame": "The excerpt has at most five lines and a caret, and is bounded.",
    "result.receipt": "There is a row a call, in order of issue, with the status that is true of it.",
    "result.rerun": "The verdict on a rerun follows from the calls' statuses and annotations.",
    "result.no-replay": "The kit repeats no call by itself.",
    "result.unawaited": "A rejected promise nobody handled and a failed call nobody awaited appear in the notes.",
    "result.one-outcome": "Exactly one terminal outcome is committed, and progress and dispatch stop with it.",
    "result.waits-for-calls": "Calls still running when the program returns are waited for within the wall limit, then "
    "marked unfinished.",
    "value.plain": "Plain JSON, dates, `toJSON`, class instances and errors are converted as documented.",
    "value.refused": "A value JSON cannot carry is refused with its path and the cure, at any depth, never changed.",
    "value.hostile": "Getters, proxies and `toJSON` run inside the meter and change nothing outside the program.",
    "value.wire": "Arguments, results and context cross the border unchanged or are refused.",
    # -- errors ------------------------------------------------------------------------------------------------------
    "error.codes": "Each failure has its stable code and phase.",
    "error.catchable": "A tool's failure is a catchable `ToolCallError`; caught, it leaves the run well.",
    "error.uncatchable": "Wall, compute and memory limits and cancellation cannot be caught to go on.",
    "error.host-codes": "Codes come from the host: a program cannot forge one.",
    "error.input-details": "An invalid input names every wrong field with what was expected and given, at most eight.",
    "error.near-names": "An unknown source, tool or field names near ones.",
    "error.advice": "A name that programs elsewhere have and programs here do not comes with what to use instead.",
    "error.behind": "The errors of an AggregateError and the chain of causes are told, bounded.",
    "error.upstream-text": "An upstream's own text and code are kept, bounded.",
    "error.secrets": "Secrets, authorization material and host paths reach no program, model, log or error.",
    "error.correlation": "A fuller record on the host's side shares the correlation id.",
    # -- limits ------------------------------------------------------------------------------------------------------
    "limit.source": "A program over its size is refused.",
    "limit.compute": "Computing ends at its limit, also inside native loops; waiting for tools is free.",
    "limit.wall": "A run ends at its wall limit.",
    "limit.call-time": "One call ends at its limit.",
    "limit.memory": "Memory is a ceiling for the guest, and the process grows little beyond it.",
    "limit.stack": "Recursion ends with the stack's own code.",
    "limit.calls": "Every attempt at a call counts.",
    "limit.concurrency": "Calls beyond those that may run at once queue, first come first served.",
    "limit.results": "A tool's result over its limit fails and is never cut.",
    "limit.bridge": "All traffic of a run is bounded.",
    "limit.final": "A final value over its limit fails and is never cut.",
    "log.shows": "The console shows a value as far as it can be read, bounded, and a hostile one harms nothing.",
    "limit.logs": "Logs keep head and tail within their bounds and say how many entries were dropped.",
    "limit.progress": "Progress is bounded in size, count and rate; the terminal event is never dropped.",
    "limit.host-only": "The model cannot raise a limit.",
    "limit.never-settled": "A program that waits for what no one can settle ends with its own code.",
    # -- the compiler ------------------------------------------------------------------------------------------------
    "compile.erasing": "Types are erased in place: length, lines and meaning stay.",
    "compile.transforms": "Enums and parameter properties are transformed, with positions kept.",
    "compile.refused": "What cannot run is refused with location and alternative.",
    "compile.unsafe": "Static and dynamic imports, `import.meta`, global `require`, `eval`, `Function` and text that "
    "closes the wrapper are refused on the tree.",
    "compile.recoveries": "Fences, bare functions and default exports are recovered, and a note says so.",
    "compile.discarded": "A final expression is never returned by itself; a note says that it was discarded.",
    "compile.bounded": "Hostile text ends as a diagnostic, never as a crash.",
    "compile.deterministic": "The same text gives the same result, and compiled programs are cached.",
    # -- the sandbox -------------------------------------------------------------------------------------------------
    "sandbox.fresh": "Each run has an instance of its own; nothing of another run is seen.",
    "sandbox.globals": "The globals are one fixed, versioned list.",
    "sandbox.no-text-to-code": "There is no route from text to code.",
    "sandbox.no-host": "Nothing of the host can be reached.",
    "sandbox.poisoning": "Poisoned prototypes hurt only the program itself.",
    "sandbox.names": "The names of sources and tools can be listed, metered; `then` is hidden at every level.",
    "sandbox.call-any": "`tools.$call` reaches any name.",
    "sandbox.stepwise": "A sandbox is stepped: launched, stepped with answers, closed; one suite checks each adapter.",
    "sandbox.off-loop": "A program that computes does not keep the event loop or other programs waiting.",
    "sandbox.module-cache": "The compiled guest is cached safely against other users and other versions.",
    "sandbox.guest-build": "The guest is a reproducible build product whose hash is checked.",
    # -- the bridge --------------------------------------------------------------------------------------------------
    "bridge.order": "A call is resolved, counted, validated, queued, decided, dispatched and bounded in that order.",
    "bridge.never-reaches": "An invalid or denied call never reaches the provider.",
    "bridge.pinned": "A run keeps the catalogue it started with.",
    "bridge.exact-result": "A program gets `content` and `structuredContent`, and nothing else of the answer.",
    "bridge.output-checked": "A result that does not match its declared schema fails, or passes with a note if the "
    "source is configured so.",
    # -- policy ------------------------------------------------------------------------------------------------------
    "policy.decides": "A policy allows, denies or asks, from the whole request.",
    "policy.fails-closed": "Anything else returned, an exception or silence denies.",
    "policy.rules": "Rules are ordered, match names, inputs, annotations and principal, and deny by default.",
    "policy.rate": "A rule's limit per run and per minute holds.",
    "policy.asks": "`ask` calls the approver, bounded by the wall limit alone; with none it denies.",
    "policy.every-path": "The decision is the same on every path to a tool.",
    "policy.explain": "`policy explain` says which rule decides and why.",
    # -- the catalogue -----------------------------------------------------------------------------------------------
    "catalog.names": "Names are kept exactly and every tool stays reachable.",
    "catalog.dotted": "A dotted name is a path, and also a name in brackets.",
    "catalog.independent": "Sources start at once and independently; a slow or dead one delays no other.",
    "catalog.waits": "A call to a connecting source waits up to a bound, then fails and names the state.",
    "catalog.health": "Health says each source's state, counts, last error and next retry.",
    "catalog.reconnect": "Reconnecting backs off with jitter, never gives up and resets on success.",
    "catalog.idle-death": "A child that died idle is noticed; an upstream over HTTP is probed.",
    "catalog.empty-restart": "A restarted source that lists nothing first keeps its last catalogue for a while.",
    "catalog.atomic": "One source's refresh is atomic and costs the others nothing.",
    "catalog.paging": "All pages are read; a cursor that repeats stops with a diagnostic.",
    "catalog.revision": "The revision is a hash of content, the same in every process.",
    "catalog.diff": "Two revisions can be compared.",
    "catalog.public-face": "What the catalogue tells is the same wherever it is asked, and costs no more as it grows.",
    "schema.drafts": "Drafts 7, 2019-09 and 2020-12 are supported; 2020-12 is the default.",
    "schema.offline": "No schema makes the kit fetch anything.",
    "schema.quarantine": "A schema that is invalid or cannot be enforced quarantines its tool alone, until mended.",
    "schema.bounded": "Hostile schemas and patterns cost bounded time.",
    # -- MCP sources -------------------------------------------------------------------------------------------------
    "mcp.transports": "Sources speak stdio, Streamable HTTP and SSE.",
    "mcp.eras": "The protocol's era is negotiated, or pinned.",
    "mcp.list-changed": "Changes of the list are followed, debounced.",
    "mcp.cancel-progress": "Cancellation and progress are forwarded.",
    "mcp.app-only": "Tools for apps alone are hidden.",
    "mcp.content": "Every kind of content arrives; what is malformed is an error.",
    "mcp.bounded": "A huge answer is cut off at the limit without being held twice.",
    "mcp.headers": "Configured headers go to the configured origin only; redirects carry them nowhere else.",
    "mcp.processes": "A source's process dies with us, and its death ends only its own calls.",
    "mcp.hostile": "Rubbish, floods and requests of a server hurt no other source.",
    # -- APIs by OpenAPI ---------------------------------------------------------------------------------------------
    "openapi.documents": "OpenAPI 3.0, 3.1 and Swagger 2.0 are read, as JSON and YAML; each operation is a tool or is "
    "skipped with its reason.",
    "openapi.styles": "Every style of a parameter is sent as the specification's table says.",
    "openapi.route": "A value in a path never leaves the declared route.",
    "openapi.bodies": "Bodies of JSON, forms, parts, text and bytes are sent as declared.",
    "openapi.answers": "JSON, text and bytes arrive as what they are; a failure tells status, headers and body.",
    "openapi.schemas": "Schemas are shared and never inlined; dialects of 2.0 and 3.0 become JSON Schema.",
    "openapi.auth": "Credentials are sent as their scheme says, to the API's own origin alone.",
    "openapi.once": "No operation is sent twice.",
    # -- plugins -----------------------------------------------------------------------------------------------------
    "plugin.loads": "A plugin's servers become sources; each entry is isolated.",
    "plugin.environment": "A plugin's server knows its two places and nothing of the host.",
    "plugin.names": "A server of a plugin whose name is taken is left out and told.",
    "plugin.contained": "Nothing of a plugin resolves outside its root.",
    # -- search ------------------------------------------------------------------------------------------------------
    "search.answer": "The answer has the documented fields, within 64 KiB, whole results only.",
    "search.input": "A query's bounds are checked, and hostile text is only text.",
    "search.ranking": "Exact names first, then words of names, descriptions and properties, stemmed.",
    "search.typo": "A typo, a split or a glued name still finds its tool.",
    "search.census": "`*` gives the namespaces with counts.",
    "search.hidden": "Quarantined, app-only and unavailable tools never appear.",
    "search.deterministic": "The same catalogue and query give the same order in every process.",
    "search.paging": "Paging reaches everything once.",
    "search.contract": "The result contract and the declarations say how to call and how to read.",
    "search.text": "The text alone suffices to continue.",
    "search.hostile-tools": "Endless, stuffed and sly names, descriptions and schemas win no place and break nothing.",
    "search.waits": "A search that finds nothing waits a bounded time for sources that are connecting, and each answer "
    "says which sources it does not know.",
    "search.scale": "Search holds at tens of thousands of tools.",
    # -- declarations ------------------------------------------------------------------------------------------------
    "types.compile": "Every emitted declaration compiles under `tsc --strict`.",
    "types.by-value": "A value the schema accepts type-checks; one it refuses for a reason TypeScript has does not.",
    "types.docs": "Descriptions, defaults and bounds are doc comments that no text can leave.",
    "types.unknown": "Where a schema says nothing precise the type is `unknown`, never `any`.",
    "types.bounded": "Declarations are deterministic and bounded.",
    # -- the type checker --------------------------------------------------------------------------------------------
    "typecheck.catches": "Mistakes about tools are caught before any call.",
    "typecheck.no-false-block": "A correct program is not blocked.",
    "typecheck.isolated": "The compiler reads no file of the user's, is bounded, and ends with its Code Mode.",
    "typecheck.unchecked": "A check over its budget or a crash leaves the run unchecked, with a note.",
    "typecheck.optional": "Without the extra, asking for the checker is one clear error.",
    # -- the MCP surface ---------------------------------------------------------------------------------------------
    "surface.tools": "`run_typescript` and `search_tools` with their annotations and schemas, and nothing else.",
    "surface.beside": "A server's own tools stay as they are.",
    "surface.failures": "Failures are tool errors with the diagnostic and a short text.",
    "surface.cancel": "A client's cancellation reaches guest, queue and providers.",
    "surface.progress": "Progress is sent when asked for, with an increasing sequence and no total.",
    "surface.small": "The tool list is stable to the byte and at most 900 tokens.",
    "surface.eras": "Clients of both protocol eras are served.",
    "surface.conformance": "The public conformance suite finds nothing we do not name.",
    "surface.client-gone": "A client that goes leaves nothing running.",
    # -- hosting -----------------------------------------------------------------------------------------------------
    "host.serves": "Streamable HTTP serves clients of both eras, with and without sessions.",
    "host.auth": "Bearer tokens or a verifier tell who asks; an address others can reach needs one.",
    "host.guards": "Foreign pages, bodies over their limit and requests beyond a number at once are refused.",
    "host.watched": "Health and readiness tell what a watcher needs, and no more.",
    "host.ends": "A server that ends begins nothing more, and answers what it has begun.",
    "host.workers": "Several processes share one address; one that dies is replaced.",
    # -- observation -------------------------------------------------------------------------------------------------
    "observe.events": "Lifecycle events come in order with an increasing sequence.",
    "observe.listeners": "A coroutine function that listens is awaited on the loop, any other is called in a thread; "
    "each hears in order.",
    "observe.advisory": "A slow or failing listener changes nothing.",
    "observe.payload-free": "Observers and spans never see arguments, results or messages.",
    "observe.spans": "Runs and calls are spans where an SDK listens.",
    "observe.trace": "A trace goes on from the caller of a run to what tools and MCP servers record.",
    "observe.audit": "The audit log has a line for each decision, call and run, redacted.",
    "observe.audit-file": "Audit lines stay whole between processes, private and within a size.",
    "observe.audit-losses": "Audit lines that cannot be written or redacted are counted and told, and touch no run.",
    # -- the command line and the config -----------------------------------------------------------------------------
    "cli.commands": "Each command does what its page says, with `--json` and exit codes 0, 1 and 2.",
    "cli.help": "Help is fast and says what there is.",
    "cli.stdout": "Nothing but the protocol goes to the standard output of `serve`.",
    "config.found": "The config is found in its order, as JSON or TOML.",
    "config.checked": "Unknown keys are errors that name the nearest; one clear line says what was wrong.",
    "config.expands": "`${NAME}` expands; a missing one makes only its source unavailable, and no value is shown.",
    "config.other-clients": "The keys other clients use are understood.",
    "config.schema": "The shipped JSON Schema accepts and refuses as the loader does.",
    # -- the house ---------------------------------------------------------------------------------------------------
    "house.docs": "What the documentation shows is true and runs.",
    "house.bench": "The bench runs and judges its targets honestly.",
    "house.demo": "The demo shows real parts at work.",
    "house.testing": "The public test kit checks a user's providers, sandboxes and compilers as ours.",
    "house.soak": "Mixed runs with faults leak nothing.",
    "house.installs": "What is installed is what was built, from the package indexes alone.",
    "house.requirements": "Every promise has a test and every test a promise.",
}
