// A ValkeyStore as the store contract asks for it.
import { beforeAll, it } from "vitest";
import { type SubjectWithoutOutbox, storeContract } from "../../lib/testing/contract/store-contract.ts";
import { ValkeyKeys } from "../../lib/valkey/keys.ts";
import type { ValkeyStoreOptions } from "../../lib/valkey/options.ts";
import type { ValkeyClient } from "../../lib/valkey/valkey-client.ts";
import type { ValkeyWrite } from "../../lib/valkey/writes.ts";
import { storeOf } from "./given.ts";

function subjectOf(
  client: ValkeyClient,
  options: Partial<ValkeyStoreOptions>,
): SubjectWithoutOutbox<ValkeyWrite> {
  const { store, prefix } = storeOf(client, options);
  const keys = new ValkeyKeys(prefix, options.hashTag);
  const counter = (name: string) => `${prefix}-counters:{${options.hashTag ?? "any"}}:${name}`;
  const send = (key: string, name: string, ...words: string[]) => client.send(key, [name, key, ...words]);
  return {
    store,
    unacceptableWrites: [
      [null],
      [{}],
      [{ command: ["FLUSHALL"] }],
      [{ command: ["SET", `${prefix}:{0}:x`, "1"] }],
    ] as unknown as ValkeyWrite[][],
    countUp: (name, condition) => ({
      command: ["INCRBY", counter(name), 1],
      ...(condition && { onlyIf: "absent" }),
    }),
    readCount: async (name) => Number((await send(counter(name), "GET")) ?? 0),
    alter: async (recordKey, { version, steps }) => {
      const { record } = keys.of(recordKey);
      if (version !== undefined) await send(record, "HSET", "version", `${version}`);
      for (const [name, { state, attempt, at, ...rest }] of Object.entries(steps ?? {})) {
        await send(record, "HSET", `s:${name}`, `${state} ${attempt} ${at}\n${JSON.stringify(rest)}`);
      }
    },
    remove: async (recordKey) => {
      await send(keys.of(recordKey).record, "DEL");
    },
  };
}

/** Declares the tests of the contract. */
export function promises(
  connect: () => Promise<ValkeyClient>,
  options: Partial<ValkeyStoreOptions> = {},
): void {
  let subject: SubjectWithoutOutbox<ValkeyWrite>;

  beforeAll(async () => {
    subject = subjectOf(await connect(), options);
  });

  for (const { name, run } of storeContract(() => subject, { messages: false })) it(name, run);
}
