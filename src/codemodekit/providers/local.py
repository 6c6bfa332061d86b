"""Python functions as tools: `define_tool` reads a function, `local` names a group of them, `LocalToolProvider` is the
source the catalogue connects to.

Functions run on the trusted host. Async ones run on the event loop, sync ones in a thread. Their inputs have been
validated; what they return crosses the same bounds as any upstream's answer. Knows nothing of programs.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, get_type_hints

import pydantic

from codemodekit._json import JsonObject, JsonValue, dumps
from codemodekit.contracts import ToolAnnotations, ToolCall, ToolDefinition, ToolListing, ToolResult
from codemodekit.errors import ConfigurationError, ToolError
from codemodekit.providers.threads import in_thread

__all__ = ["LocalTool", "LocalToolProvider", "ToolContext", "define_tool", "local"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool may know of the call it serves; a parameter annotated with this type receives it."""

    execution_id: str
    call_id: str
    source: str
    tool: str
    cancelled: Callable[[], bool]
    """Whether the call has been given up; a sync function, which cannot be interrupted, should look."""
    report_progress: Callable[[str], None]
    """Tells the run's listeners something; from any thread."""


@dataclass(frozen=True, slots=True)
class LocalTool:
    """A function with its definition, ready to be offered by a source."""

    definition: ToolDefinition
    invoke: Callable[[JsonValue, Callable[[], ToolContext]], Awaitable[JsonValue | ToolResult]]
    """Takes the validated input, and what makes the context for a function that asks for it."""


def define_tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    input_schema: JsonObject | None = None,
    output_schema: JsonObject | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    title: str | None = None,
) -> Any:
    """Make a tool of a function; as `define_tool(fn)` or as a decorator, with or without arguments.

    Without `input_schema` the schema comes from the type hints, and the function gets its arguments by keyword, as the
    types say. With it the function gets the whole input object as its one argument. A return annotation that says more
    than `dict` becomes the output schema unless `output_schema` is given.

    Raises:
        ConfigurationError: a parameter whose type has no JSON form, or that cannot be given by keyword.
    """
    if function is None:
        return lambda each: define_tool(
            each, name=name, description=description, input_schema=input_schema, output_schema=output_schema,
            read_only=read_only, destructive=destructive, idempotent=idempotent, open_world=open_world, title=title,
        )  # fmt: skip
    if not callable(function):
        raise ConfigurationError(f"a tool is a function, not {function!r}")
    shape = _Shape(function, raw=input_schema is not None)
    definition = ToolDefinition(
        name=name or shape.name,
        description=description if description is not None else inspect.getdoc(function) or "",
        input_schema=input_schema if input_schema is not None else shape.input_schema(),
        output_schema=output_schema if output_schema is not None else shape.output_schema(),
        annotations=ToolAnnotations(
            title=title, read_only=read_only, destructive=destructive, idempotent=idempotent, open_world=open_world
        ),
    )
    return LocalTool(definition, shape.invoke)


def local(name: str, tools: Iterable[Any] | Mapping[str, Any]) -> LocalToolProvider:
    """A source of Python functions. `tools` is a list of functions or defined tools, or a dict of them by name.

    Raises:
        ConfigurationError: two tools of one name, or something that is no function.
    """
    if isinstance(tools, str | bytes) or not isinstance(tools, Iterable):
        raise ConfigurationError(f"source {name!r}: tools are a list or a dict of functions, not {tools!r}")
    if isinstance(tools, Mapping):
        made = [_renamed(_as_tool(tool), key) for key, tool in tools.items()]
    else:
        made = [_as_tool(tool) for tool in tools]
    return LocalToolProvider(name, made)


class LocalToolProvider:
    """The source over functions; always connected, and its tools never change."""

    def __init__(self, name: str, tools: Iterable[LocalTool]) -> None:
        self._name = name
        self._tools: dict[str, LocalTool] = {}
        for tool in tools:
            if tool.definition.name in self._tools:
                raise ConfigurationError(f"source {name!r} has two tools named {tool.definition.name!r}")
            self._tools[tool.definition.name] = tool

    @property
    def name(self) -> str:
        return self._name

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[_LocalSession]:
        yield _LocalSession(self._tools)


class _LocalSession:
    def __init__(self, tools: Mapping[str, LocalTool]) -> None:
        self._tools = tools

    async def list_tools(self) -> ToolListing:
        return ToolListing(definitions=tuple(tool.definition for tool in self._tools.values()))

    async def wait_for_change(self) -> None:
        await asyncio.get_running_loop().create_future()

    async def call(self, call: ToolCall) -> ToolResult:
        given_up = False

        def context() -> ToolContext:
            return ToolContext(
                execution_id=call.execution_id,
                call_id=call.call_id,
                source=call.source,
                tool=call.tool,
                cancelled=lambda: given_up,
                report_progress=call.report_progress,
            )

        try:
            value = await self._tools[call.tool].invoke(call.input, context)
        except asyncio.CancelledError:
            given_up = True
            raise
        return value if isinstance(value, ToolResult) else _result(value)


def _result(value: Any) -> ToolResult:
    if value is None:
        return ToolResult()
    structured = value
    try:
        if not _is_plain(value):
            structured = _anything.dump_python(value, mode="json")
        text = structured if isinstance(structured, str) else dumps(structured)
    except (ValueError, RecursionError):  # NaN, say, or too deep: whoever bounds the result refuses it and says why
        return ToolResult(structured_content=structured)
    return ToolResult(content=({"type": "text", "text": text},), structured_content=structured)


_SCALARS: Final = (str, int, float, bool, types.NoneType)


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        return all(type(key) is str and _is_plain(item) for key, item in value.items())
    if kind is list:
        return all(map(_is_plain, value))
    return kind in _SCALARS


_anything: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(Any)


# --- from a function to schemas and back ------------------------------------------------------------------------------


class _Shape:
    """How a function is called: which parameters it has, what they look like in JSON, whether it runs in a thread."""

    def __init__(self, function: Callable[..., Any], *, raw: bool) -> None:
        self._function = function
        self._raw = raw
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an instance with an async __call__ is meant
        )
        self._hints = _hints(function)
        parameters = inspect.signature(function).parameters
        self._context = next((name for name in parameters if self._hints.get(name) is ToolContext), None)
        self._parameters = {name: each for name, each in parameters.items() if name != self._context}
        self._model = None if raw else self._arguments_model()
        self._simple = self._model is not None and all(self._hints.get(name) in _SCALARS for name in self._parameters)

    def _arguments_model(self) -> type[pydantic.BaseModel]:
        fields: dict[str, Any] = {}
        for name, parameter in self._parameters.items():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise ConfigurationError(
                    f"parameter {name!r} of {self.name!r} cannot be given by keyword; tools need named ones"
                )
            default = ... if parameter.default is parameter.empty else parameter.default
            # Names that pydantic would take for its own stay usable through the alias.
            fields[f"field_{name}"] = (self._hints.get(name, Any), pydantic.Field(default, alias=name))
        config = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=False)
        try:
            return pydantic.create_model(self.name, __config__=config, **fields)
        except (pydantic.errors.PydanticSchemaGenerationError, pydantic.errors.PydanticUserError, TypeError) as error:
            raise ConfigurationError(f"a parameter of {self.name!r} has no JSON form: {error}") from error

    @property
    def name(self) -> str:
        return str(getattr(self._function, "__name__", type(self._function).__name__))

    def input_schema(self) -> JsonObject:
        assert self._model is not None
        schema = self._model.model_json_schema(by_alias=True)
        schema.pop("title", None)
        return schema

    def output_schema(self) -> JsonObject | None:
        """What the return annotation says, where it says something and is of JSON."""
        hint = self._hints.get("return", Any)
        if hint in (Any, None, types.NoneType, dict, list, ToolResult) or isinstance(hint, str):
            return None
        try:
            return pydantic.TypeAdapter(hint).json_schema(mode="serialization")
        except (pydantic.errors.PydanticInvalidForJsonSchema, pydantic.errors.PydanticUserError):
            return None

    async def invoke(self, given: JsonValue, context: Callable[[], ToolContext]) -> Any:
        arguments: tuple[Any, ...] = (given,) if self._raw else ()
        keywords = {} if self._raw else self._keywords(given)
        if self._context is not None:
            keywords[self._context] = context()
        if self._is_async:
            return await self._function(*arguments, **keywords)
        return await in_thread(self._function, *arguments, **keywords)

    def _keywords(self, given: Any) -> dict[str, Any]:
        if self._simple:
            return dict(given)
        assert self._model is not None
        try:
            model = self._model.model_validate(given)
        except pydantic.ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = "/".join(str(part) for part in first["loc"])
            raise ToolError(f"the input at /{place} cannot be used: {first['msg']}") from error
        return {name.removeprefix("field_"): getattr(model, name) for name in model.model_fields_set}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target = function if inspect.isroutine(function) else getattr(type(function), "__call__")  # noqa: B004, B009
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError) as error:
        raise ConfigurationError(f"the type hints of {function!r} cannot be read: {error}") from error


def _as_tool(tool: Any) -> LocalTool:
    if isinstance(tool, LocalTool):
        return tool
    made: LocalTool = define_tool(tool)
    return made


def _renamed(tool: LocalTool, name: str) -> LocalTool:
    return dataclasses.replace(tool, definition=dataclasses.replace(tool.definition, name=name))
