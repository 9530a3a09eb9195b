/** Entry "onceonly/agents": tools that take effect once, however often an agent calls them. */
export { onceTool } from "./once-tool.ts";
export type { OnceToolOptions } from "./options.ts";
export type { ToolNotice, ToolStatus } from "./tool-notice.ts";
