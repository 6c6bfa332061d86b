"""The TypeScript text an author of programs needs once: what calls resolve to, how they fail, the other globals."""

from __future__ import annotations

from typing import Final

__all__ = ["GLOBAL_TYPES", "PROGRAM_GLOBALS", "RESULT_CONTRACT"]

GLOBAL_TYPES: Final = ("ToolResult", "ToolContentBlock", "ToolCallError", "Tools")
"""Type names that generated types must not take."""

RESULT_CONTRACT: Final = """\
/**
 * What a tool call resolves to. `structuredContent` is the data; a tool that declares no output type often leaves it
 * out and puts text into `content`, perhaps JSON. To take either:
 *
 *   const result = await tools.source.tool({ id: 1 });
 *   let data: unknown = result.structuredContent;
 *   if (data === undefined) {
 *     const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
 *     try { data = JSON.parse(text); } catch { data = text; }
 *   }
 *
 * Check the shape of an `unknown` before you use it. A failed call throws a ToolCallError.
 */
interface ToolResult<T = unknown> {
  content: ToolContentBlock[];
  structuredContent?: T;
}

/** One piece of rich content. A source may send types other than these: skip what you do not know. */
type ToolContentBlock =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string /* base64 */; mimeType: string }
  | { type: "resource"; resource: { uri: string; mimeType?: string; text?: string; blob?: string /* base64 */ } }
  | { type: "resource_link"; uri: string; name: string; title?: string; description?: string; mimeType?: string };
"""

PROGRAM_GLOBALS: Final = """\
/** A failed tool call; `code` says why, such as TOOL_INPUT_INVALID, TOOL_CALL_TIMEOUT or TOOL_EXECUTION_FAILED. */
declare class ToolCallError extends Error {
  readonly code: string;
  readonly phase: "tool";
  readonly source: string;
  readonly tool: string;
  readonly details?: unknown;
}

/** The value the caller gave with the program; null if none. */
declare const context: unknown;

interface Console {
  debug(...data: unknown[]): void;
  error(...data: unknown[]): void;
  info(...data: unknown[]): void;
  log(...data: unknown[]): void;
  warn(...data: unknown[]): void;
}
declare var console: Console;
"""
