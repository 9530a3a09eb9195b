/** What an agent reads: it sees a result's body and no header, so the body says that nothing ran, and what to do. */

/** Beside a result, for programs. */
export interface ToolStatus {
  /** `replayed`: the result of an earlier call. `pending`: the outcome isn't known yet. */
  readonly status: "replayed" | "pending";
  /** The key of the call. As `idempotencyKey` it asks for this call again, whatever the plan. */
  readonly id: string;
  /** When to ask again. */
  readonly retryAfterSeconds?: number;
}

/** A result without one of the tool: a text for the agent, in a form that MCP prescribes and other toolkits pass on. */
// A type that isn't an interface, and mutable, because MCP's types require both.
export type ToolNotice = {
  content: { type: "text"; text: string }[];
  _meta: { onceonly: ToolStatus };
  isError?: true;
};

const REPLAYED = "This call was already made, and nothing ran again: this is the result of that call.";

/** @param isError whether the tool's results have a schema, which a notice can't fit */
export function pendingNotice(
  why: string,
  id: string,
  retryAfterSeconds: number,
  isError: boolean,
): ToolNotice {
  const text = `Pending: ${why}, so nothing was done again. Don't try another way. Call this tool again in ${retryAfterSeconds} seconds with the same arguments, and if it accepts an idempotencyKey, with ${JSON.stringify(id)}.`;
  return notice(text, { status: "pending", id, retryAfterSeconds }, isError);
}

export function forgottenNotice(id: string, isError: boolean): ToolNotice {
  const text = "This call was already made and took effect, but its result wasn't kept. Nothing ran again.";
  return notice(text, { status: "replayed", id }, isError);
}

function notice(text: string, status: ToolStatus, isError: boolean): ToolNotice {
  return { content: [{ type: "text", text }], _meta: { onceonly: status }, ...(isError && { isError }) };
}

/** Marks the result of an earlier call, in the part that the agent reads. The result keeps its shape. */
export function markReplayed(result: unknown, id: string): unknown {
  const status: ToolStatus = { status: "replayed", id };
  if (result === undefined || result === null) return REPLAYED;
  if (Array.isArray(result)) return markList(result, id);
  if (typeof result !== "object") return `${result}\n\n${REPLAYED}`;
  const { content, _meta } = result as { readonly content?: unknown; readonly _meta?: object };
  // `structuredContent` stays as its schema wants it.
  return areBlocks(content)
    ? { ...result, content: withNote(content), _meta: { ..._meta, onceonly: status } }
    : { ...result, onceonly: status };
}

/** Of a text or blocks and an artifact, such as in LangChain, the agent reads the first. */
function markList(list: readonly unknown[], id: string): unknown {
  const [first, ...rest] = list;
  if (list.length > 0 && areBlocks(list)) return withNote(list);
  return typeof first === "string" || Array.isArray(first) || Object(first) === first
    ? [markReplayed(first, id), ...rest]
    : [...list, REPLAYED];
}

/** The content of MCP, and of LangChain's messages. */
const areBlocks = (content: unknown): content is readonly unknown[] =>
  Array.isArray(content) && content.every((block) => typeof Object(block).type === "string");

const withNote = (blocks: readonly unknown[]) => [...blocks, { type: "text", text: REPLAYED }];
