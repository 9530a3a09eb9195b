// The options of a handler, as a module gives them to `onceonly openapi`.
import { callerFromJwt } from "onceonly";
import { MemoryStore } from "onceonly/testing";

// biome-ignore lint/style/noDefaultExport: the command asks for one.
export default { operation: "create-order", store: new MemoryStore(), scope: callerFromJwt() };
