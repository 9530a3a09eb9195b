// Globals of Node that the library reads. Import this file before the library.
import { Buffer } from "./buffer.ts";

const given = globalThis as { Buffer?: unknown; process?: unknown };
given.Buffer ??= Buffer;
given.process ??= { env: {}, versions: { node: "22.0.0" } };
