// What the tests of idempotentFetch start from: a real server, a fresh runtime for each test, and what was sent.
import { afterAll, beforeAll, beforeEach } from "vitest";
import { FakeRuntime } from "./runtime-world.ts";
import { type LoopbackServer, startLoopbackServer } from "./server-world.ts";

export const post = { method: "POST", body: '{"item":"book"}' };
export const CREATED = { status: 201, body: '{"id":1}' };

export let server: LoopbackServer;
export let runtime: FakeRuntime;

/** Starts the server for the tests of the calling file. */
export function useLoopbackServer(): void {
  beforeAll(async () => {
    server = await startLoopbackServer();
  });
  afterAll(() => server.close());
  beforeEach(() => {
    server.script([]);
    runtime = new FakeRuntime();
  });
}

export const sentKeys = () => server.received.map(({ headers }) => headers["idempotency-key"]);
