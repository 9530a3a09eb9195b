import net from "node:net";
import { explore } from "onceonly-explorer";
import type { Mistake } from "../given.ts";
import { messageOf } from "../given.ts";

/** Clients in an explored handler that the simulation does not see. */
export const SOCKET_MISTAKES: readonly Mistake[] = [
  {
    made: "explores a handler with a database client that opens its own connections",
    reportedBy: "error",
    text: "the simulation refuses a connection to db.example:5432 because it can't see its requests: reach the other system by fetch or node:http and declare it (explore: outside; Simulator: serve), or mock the client",
    make: () =>
      messageOf(() =>
        explore(
          () => new Promise((_, reject) => net.connect(5432, "db.example").on("error", reject)),
          {},
          { name: "charge" },
        ),
      ),
  },
  {
    made: "explores a handler that calls an undeclared system, and swallows the error",
    reportedBy: "error",
    text: 'charge makes a request that the simulation can\'t answer, without any disturbance: nothing is served at https://log.example: pass `outside: { "https://log.example": (request) => new Response() }` to explore',
    make: () =>
      messageOf(() =>
        explore(
          async () => {
            await fetch("https://log.example/a", { method: "POST" }).catch(() => undefined);
          },
          {},
          { name: "charge" },
        ),
      ),
  },
];
