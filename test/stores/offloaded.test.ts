// Large results in a bucket, on each store: by the SDK's own S3 client over HTTP.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { CommitInvalidError, PermanentError } from "../../lib/core/errors.ts";
import { identify } from "../../lib/core/identity.ts";
import { rerunRecord } from "../../lib/core/rerun-record.ts";
import { bucketOf } from "../../lib/core/result-pointer.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Store } from "../../lib/core/store.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { eraseResult } from "../../lib/dynamodb/erase-result.ts";
import { DynamoDBStore as LeanStore } from "../../lib/lean/dynamodb-store.ts";
import { LeanDynamoDB } from "../../lib/lean/lean-dynamodb.ts";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { cached } from "../../lib/stores/cached.ts";
import { encrypted } from "../../lib/stores/encrypted.ts";
import { migrating } from "../../lib/stores/migrating.ts";
import { type OffloadedOptions, offloaded } from "../../lib/stores/offloaded.ts";
import { redacted } from "../../lib/stores/redacted.ts";
import { storeContract } from "../../lib/testing/contract/store-contract.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { MemoryStore } from "../../lib/testing/memory-store.ts";
import { fromIoredis } from "../../lib/valkey/from-ioredis.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { newBucket } from "../kit/loopback-bucket.ts";
import { memorySubject } from "../kit/memory-subject.ts";
import { connect, createTable } from "../kit/tables.ts";
import * as postgres from "../postgres/given.ts";
import * as valkey from "../valkey/given.ts";
import { keyService } from "./privacy-given.ts";

const CANARY = "canary-4711";
/** Too large for an item of DynamoDB, compressed or not. */
const LARGE = { canary: CANARY, ids: Array.from({ length: 20_000 }, () => randomUUID()) };
const TEXT = JSON.stringify(LARGE);
const never = () => expect.unreachable("it ran again");
const ERASURE = { by: "ana", why: "request 12" };

async function newWorld({
  inner = new MemoryStore() as Store<never>,
  ...options
}: Partial<OffloadedOptions> & { inner?: Store<never> } = {}) {
  const bucket = await newBucket("results");
  const store = offloaded(inner, { bucket: "results", client: bucket.client, ...options });
  const key = randomUUID();
  const call = { operation: "report", scope: "acme", store, leaseSeconds: 30 };
  return { ...bucket, inner, store, key, call, recordKey: identify("report", "acme", key).recordKey };
}

function warnings() {
  const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  onTestFinished(() => warned.mockRestore());
  return warned;
}

const engines: [name: string, isThere: boolean, make: () => Promise<Store<never>>][] = [
  ["MemoryStore", true, async () => new MemoryStore()],
  [
    "DynamoDBStore",
    true,
    async () => {
      const client = connect(inject("dynamodbEngines")[0]!.endpoint);
      return new DynamoDBStore({ tableName: await createTable(client), client });
    },
  ],
  [
    "DynamoDBStore without the SDK",
    true,
    async () => {
      const { endpoint } = inject("dynamodbEngines")[0]!;
      const credentials = { accessKeyId: "local", secretAccessKey: "local" };
      const client = new LeanDynamoDB({ endpoint, region: "eu-central-1", credentials });
      return new LeanStore({ tableName: await createTable(connect(endpoint)), client });
    },
  ],
  [
    "PostgresStore",
    postgres.hasServer,
    async () =>
      (await postgres.storeOf(fromPg(postgres.poolOf(await postgres.portOf())))).store as Store<never>,
  ],
  [
    "ValkeyStore",
    valkey.hasServer,
    async () => valkey.storeOf(fromIoredis(valkey.redisOf(await valkey.portOf()))).store as Store<never>,
  ],
];

describe.each(engines.filter(([, isThere]) => isThere))(
  "R9: a large result in a bucket, on %s",
  (_, __, make) => {
    let inner: Store<never>;
    beforeAll(async () => {
      inner = await make();
    });

    it("is written before the record, replayed as it was, and erased with the key", async () => {
      const { store, call, key, recordKey, objects, requests } = await newWorld({ inner });

      expect(await runOnce(call, key, {}, () => LARGE)).toEqual(LARGE);
      expect([...objects.values()]).toEqual([TEXT]);
      const [name] = objects.keys();
      const { token, result } = (await inner.find(recordKey, { consistent: true }))!;
      expect(name).toMatch(new RegExp(`^onceonly-results/[0-9a-f]{64}/${token}/[0-9a-f]{64}$`));
      expect(name).not.toContain("acme");
      expect(result).toMatchObject({ in: "record" });
      expect(bucketOf(result)).toEqual({ bucket: "results", bytes: TEXT.length });
      expect(bucketOf((await store.find(recordKey, { consistent: true }))?.result)).toEqual(bucketOf(result));

      expect(await runOnce(call, key, {}, never)).toEqual(LARGE);
      expect(requests).toEqual([`PUT ${name}`, `GET ${name}`]);

      expect(await eraseResult({ operation: "report", scope: "acme", store }, key, ERASURE)).toEqual({
        erased: true,
      });
      expect(objects.size).toBe(0);
      await expect(runOnce(call, key, {}, never)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    });

    it("keeps a final error there too, and stores small results in the record", async () => {
      const { call, key, objects } = await newWorld({ inner, minBytes: 1000 });
      const fail = () => {
        throw new PermanentError(CANARY.repeat(100));
      };
      await expect(runOnce(call, key, {}, fail)).rejects.toThrow(CANARY);
      expect(objects.size).toBe(1);
      await expect(runOnce(call, key, {}, never)).rejects.toThrow(CANARY.repeat(100));
      const small = { ...call, store: call.store };
      await runOnce(small, randomUUID(), {}, () => "x".repeat(997));
      expect(objects.size).toBe(1);
      await runOnce(small, randomUUID(), {}, () => "x".repeat(998));
      expect(objects.size).toBe(2);
    });
  },
);

describe("a store with a bucket keeps the contract", () => {
  const options = { bucket: "results", client: memoryClient(), minBytes: 1_000_000 };
  for (const { name, run } of storeContract(() => {
    const subject = memorySubject();
    return { ...subject, store: offloaded(subject.store, options) };
  })) {
    it(name, run);
  }
});

/** Keeps objects in this process, since the contract's tests have no server. */
function memoryClient(): OffloadedOptions["client"] {
  const objects = new Map<string, string>();
  return {
    putObject: async ({ Key, Body }) => objects.set(Key, Body),
    getObject: async ({ Key }) => ({ Body: { transformToString: async () => objects.get(Key)! } }),
    listObjectVersions: async () => ({}),
    deleteObject: async () => ({}),
  };
}

describe("R9: a commit with a large result", () => {
  it("writes the object first, then the record with the handler's writes, in one transaction", async () => {
    const memory = new MemoryStore();
    const { call, key, objects } = await newWorld({ inner: memory as Store<never> });
    const order = { table: "orders", key, item: () => ({ id: key }) };
    const options = { ...call, store: call.store as unknown as Store<unknown> };

    const answer = await runOnce(options, key, {}, ({ commit }) => commit(LARGE, { writes: [order] }));

    expect(answer).toEqual(LARGE);
    expect(memory.table("orders").get(key)).toEqual({ id: key });
    expect([...objects.values()]).toEqual([TEXT]);
    expect(await runOnce(call, key, {}, never)).toEqual(LARGE);

    const taken = { ...order, condition: () => false };
    const refused = runOnce(options, randomUUID(), {}, ({ commit }) => commit(LARGE, { writes: [taken] }));
    await expect(refused).rejects.toMatchObject({ code: "TRANSACTION_CONDITION" });
    const invalid = runOnce(options, randomUUID(), {}, ({ commit }) =>
      commit(LARGE, { writes: [{}] as never }),
    );
    await expect(invalid).rejects.toThrow(CommitInvalidError);
  });

  it("works without a claim, and the loser's object is one that no record points to", async () => {
    const { call, key, objects, recordKey, store } = await newWorld();
    const options = { ...call, mode: "optimistic" as const };
    const other = { ...LARGE, by: "the winner" };

    const answer = await runOnce(options, key, {}, async () => {
      await runOnce(options, key, {}, () => other);
      return LARGE;
    });

    expect(answer).toEqual(other);
    expect(objects.size).toBe(2);
    expect(await runOnce(options, key, {}, never)).toEqual(other);
    await eraseResult({ operation: "report", scope: "acme", store }, key, ERASURE);
    expect([objects.size, (await store.find(recordKey, { consistent: true }))?.state]).toEqual([
      0,
      "completed",
    ]);
  });

  it("a lost claim changes nothing that a caller can see", async () => {
    warnings();
    const clock = fakeClock(Date.now());
    const { call, key, objects } = await newWorld();
    const options = { ...call, clock, renewLease: false };

    const answer = await runOnce(options, key, {}, async () => {
      await clock.advance(120_000);
      await runOnce(options, key, {}, () => "the winner's");
      return LARGE;
    });

    expect(answer).toBe("the winner's");
    // No time is left to wait for the bucket.
    expect(objects.size).toBe(0);
    expect(await runOnce(options, key, {}, never)).toBe("the winner's");
  });
});

describe("R9: what the bucket does can't make anything run again", () => {
  it("a missing object is an error that says so", async () => {
    const { call, key, objects } = await newWorld();
    await runOnce(call, key, {}, () => LARGE);
    objects.clear();
    const replay = runOnce({ ...call, whenStoreFails: "run" }, key, {}, never);
    await expect(replay).rejects.toMatchObject({ code: "RESULT_NOT_KEPT", bytes: TEXT.length });
    await expect(replay).rejects.toThrow(/missing from the bucket results/);
  });

  it("a changed object is refused", async () => {
    const { call, key, objects } = await newWorld();
    await runOnce(call, key, {}, () => LARGE);
    for (const name of objects.keys()) objects.set(name, JSON.stringify({ canary: "another" }));
    const replay = runOnce(call, key, {}, never);
    await expect(replay).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
    await expect(replay).rejects.toThrow(/its hash differs/);
  });

  it.each([
    [500, "InternalError", "unreachable"],
    [403, "AccessDenied", "refused"],
  ])("%i %s on a replay is a failure of the store", async (status, code, failure) => {
    const { call, key, refuse } = await newWorld();
    await runOnce(call, key, {}, () => LARGE);
    refuse(status, code);
    const replay = runOnce({ ...call, whenStoreFails: "run" }, key, {}, never);
    await expect(replay).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", failure });
    await expect(replay).rejects.toThrow(/GetObject on bucket results/);
  });

  it("an object that can't be written leaves the result where it was without a bucket, and warns", async () => {
    const warned = warnings();
    const { call, key, recordKey, store, objects, refuse, accept } = await newWorld();
    refuse(403, "AccessDenied");
    expect(await runOnce(call, key, {}, () => LARGE)).toEqual(LARGE);
    accept();
    expect(await runOnce(call, key, {}, never)).toEqual(LARGE);
    expect(bucketOf((await store.find(recordKey, { consistent: true }))?.result)).toBeUndefined();
    expect(objects.size).toBe(0);
    expect(warned).toHaveBeenCalledWith(expect.stringContaining("can't be written to the bucket results"), {
      code: "ONCEONLY_BUCKET",
      detail: "AccessDenied: grant s3:PutObject on results",
    });
    expect(JSON.stringify(warned.mock.calls)).not.toContain(CANARY);
  });

  it("a bucket that never answers holds up the end of a call for five seconds", async () => {
    warnings();
    const clock = fakeClock(Date.now());
    const client = { ...memoryClient(), putObject: () => new Promise(() => {}) };
    const { call, key } = await newWorld({ client, clock });
    const answer = runOnce(call, key, {}, () => LARGE);
    const since = clock.now();
    expect(await clock.run(answer)).toEqual(LARGE);
    expect(clock.now() - since).toBe(5000);
  });

  it("a bucket that never answers leaves half of the invocation's time for the record", async () => {
    warnings();
    const clock = fakeClock(Date.now());
    const client = { ...memoryClient(), putObject: () => new Promise(() => {}) };
    const { store, key } = await newWorld({ client, clock });
    const options = { operation: "report", store, clock, context: { getRemainingTimeInMillis: () => 1000 } };
    const since = clock.now();
    expect(await clock.run(runOnce(options, key, {}, () => LARGE))).toEqual(LARGE);
    expect(clock.now() - since).toBe(450);
  });

  it("a long token gives a key that S3 accepts", async () => {
    const names: string[] = [];
    const client = {
      ...memoryClient(),
      putObject: async ({ Key }: { Key: string }) => names.push(Key),
    };
    const { inner, call, key } = await newWorld({ client, prefix: "p".repeat(800) });
    const random = { token: () => `arn:aws:lambda:${"x".repeat(200)}`, fraction: () => 0.5 };
    const store = offloaded(inner, { bucket: "results", client: client as never, prefix: "p".repeat(800) });
    await runOnce({ ...call, store, random } as never, key, {}, () => LARGE);
    expect(names[0]).toMatch(/^p{800}[0-9a-f]{64}\/[0-9a-f]{64}\/[0-9a-f]{64}$/);
  });

  it("a lost answer of the record's write doesn't write the object twice", async () => {
    const memory = new MemoryStore();
    let losses = 1;
    const inner = new Proxy(memory as Store<never>, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return async (...given: unknown[]) => {
          const answer = await value.apply(target, given);
          if (name === "settle" && losses-- > 0)
            throw Object.assign(new Error("lost"), { name: "TimeoutError" });
          return answer;
        };
      },
    });
    const { call, key, requests } = await newWorld({ inner });
    await runOnce(call, key, {}, () => LARGE).catch(() => undefined);
    expect(requests.filter((each) => each.startsWith("PUT"))).toHaveLength(1);
  });
});

describe("R9: with other stores around it", () => {
  it("H39: an encrypted store's result is encrypted in the bucket, and bound to its record", async () => {
    const { inner, store, call, key, objects, recordKey } = await newWorld();
    const outer = encrypted(store, { keys: keyService() });
    const options = { ...call, store: outer };
    await runOnce(options, key, {}, () => LARGE);
    expect([...objects.values()].join()).not.toContain(CANARY);
    expect(await runOnce(options, key, {}, never)).toEqual(LARGE);
    expect(bucketOf((await outer.find(recordKey, { consistent: true }))?.result)?.bucket).toBe("results");
    await expect(
      runOnce({ ...options, store: encrypted(inner, { keys: keyService() }) }, key, {}, never),
    ).rejects.toThrow(/is in a bucket/);
    expect(await eraseResult({ operation: "report", scope: "acme", store: outer }, key, ERASURE)).toEqual({
      erased: true,
    });
    expect(objects.size).toBe(0);
  });

  it("cached, redacted and migrating stores replay and erase it", async () => {
    const { store, call, objects } = await newWorld();
    const target = new MemoryStore() as Store<never>;
    for (const outer of [
      cached(store),
      redacted(store, (result: typeof LARGE) => result),
      migrating(store, target),
      migrating<never>(new MemoryStore() as Store<never>, store),
    ]) {
      const key = randomUUID();
      const options = { ...call, store: outer };
      await runOnce(options, key, {}, () => LARGE);
      expect(objects.size).toBe(1);
      expect(await runOnce(options, key, {}, never)).toEqual(LARGE);
      await eraseResult({ operation: "report", scope: "acme", store: outer }, key, ERASURE);
      expect(objects.size).toBe(0);
      await expect(runOnce(options, key, {}, never)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    }
  });

  it("a handler without the bucket, or with another one, doesn't run, and says what is missing", async () => {
    const { inner, call, key, client } = await newWorld();
    await runOnce(call, key, {}, () => LARGE);
    await expect(runOnce({ ...call, store: inner }, key, {}, never)).rejects.toThrow(
      /in a bucket: use `offloaded`/,
    );
    for (const other of [{ bucket: "other" }, { bucket: "results", prefix: "other/" }]) {
      const elsewhere = { ...call, store: offloaded(inner, { client, ...other }) };
      await expect(runOnce(elsewhere, key, {}, never)).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
    }
  });

  it("refuses stores that belong in front of it, and wrong options, before any I/O", () => {
    const client = memoryClient();
    const given = { bucket: "results", client };
    const inner = new MemoryStore();
    expect(() => offloaded(encrypted(inner, { keys: keyService() }), given)).toThrow(
      /must not be an encrypted store: wrap it the other way round, encrypted\(offloaded\(store, …\), …\)/,
    );
    expect(() => offloaded(redacted(inner, "all"), given)).toThrow(/redacted\(offloaded\(store/);
    expect(() => offloaded({} as Store, given)).toThrow(/`store`/);
    for (const wrong of [
      { bucket: undefined },
      { bucket: "undefined" },
      { client: {} },
      { prefix: "a b" },
      { minBytes: 0 },
      { size: 1 },
    ])
      expect(() => offloaded(inner, { ...given, ...wrong } as never)).toThrow(/INVALID|`/);
  });
});

describe("R9: erasing", () => {
  it("H39: reports a failed deletion, answers 410 meanwhile, and the next call finishes it", async () => {
    const { inner, store, client, call, key, objects, refuse, accept } = await newWorld();
    await runOnce(call, key, {}, () => LARGE);
    const eraseIn = (of: Store<never>) =>
      eraseResult({ operation: "report", scope: "acme", store: of }, key, ERASURE);
    const erase = () => eraseIn(store);
    refuse(403, "AccessDenied");
    await expect(erase()).rejects.toThrow(/ListObjectVersions on bucket results \(AccessDenied\)/);
    accept();
    expect(await runOnce(call, key, {}, never)).toEqual(LARGE);
    const undeleting = {
      putObject: client.putObject.bind(client),
      getObject: client.getObject.bind(client),
      listObjectVersions: client.listObjectVersions.bind(client),
      deleteObject: () => Promise.reject(new Error("down")),
    };
    await expect(eraseIn(offloaded(inner, { bucket: "results", client: undeleting }))).rejects.toThrow(
      /DeleteObject/,
    );
    await expect(eraseIn(inner)).rejects.toThrow(/the handler's bucket may have results of this key/);
    await expect(runOnce(call, key, {}, never)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect(await erase()).toEqual({ erased: true });
    expect(objects.size).toBe(0);
  });

  it("H39: refuses the store below, which would leave the object", async () => {
    const { inner, call, key, objects, recordKey } = await newWorld();
    await runOnce(call, key, {}, () => LARGE);
    const erasing = eraseResult({ operation: "report", scope: "acme", store: inner }, key, ERASURE);
    await expect(erasing).rejects.toThrow(
      /`store` must be the handler's `offloaded` store: this result is in the bucket results/,
    );
    expect(objects.size).toBe(1);
    expect((await inner.find(recordKey, { consistent: true }))?.state).toBe("completed");
  });

  it("H39: needs the bucket even if the current result is small, since an earlier one may be there", async () => {
    const { inner, store, call, key, objects, recordKey } = await newWorld();
    await runOnce(call, key, {}, () => LARGE);
    await rerunRecord({ store: inner }, recordKey, ERASURE);
    await runOnce(call, key, {}, () => "small");
    const erase = (of: Store<never>) =>
      eraseResult({ operation: "report", scope: "acme", store: of }, key, ERASURE);
    await expect(erase(inner)).rejects.toThrow(/the handler's bucket may have results of this key/);
    expect(await erase(store)).toEqual({ erased: true });
    expect(objects.size).toBe(0);
  });

  it("H39: deletes objects that outlived their record", async () => {
    const { inner, store, call, key, objects, recordKey } = await newWorld();
    await runOnce(call, key, {}, () => LARGE);
    ((inner as unknown as MemoryStore).records as Map<string, unknown>).delete(recordKey);
    expect(await eraseResult({ operation: "report", scope: "acme", store }, key, ERASURE)).toEqual({
      erased: true,
    });
    expect(objects.size).toBe(0);
  });

  it("H39: leaves the new result of an expired key that a call claims again meanwhile", async () => {
    const { inner, client, key, call } = await newWorld();
    await runOnce({ ...call, retentionSeconds: 60 }, key, {}, () => "old");
    const later = fakeClock(Date.now() + 120_000);
    // Between the erasure of the record and the deletion of objects.
    const racing = intercepted(inner as never, async (method, request) => {
      const answer = await request();
      if (method === ("erase" as string))
        await runOnce({ ...call, clock: later, renewLease: false }, key, {}, () => LARGE);
      return answer;
    }) as Store<never>;
    const store = offloaded(racing, { bucket: "results", client });
    await eraseResult({ operation: "report", scope: "acme", store }, key, ERASURE);
    expect(await runOnce({ ...call, clock: later }, key, {}, never)).toEqual(LARGE);
  });

  it("deletes each version on each page of a versioned bucket", async () => {
    const deleted: string[] = [];
    const asked: unknown[] = [];
    const client = {
      ...memoryClient(),
      listObjectVersions: async ({ KeyMarker }: { KeyMarker?: string | undefined }) => {
        asked.push(KeyMarker);
        if (KeyMarker === undefined)
          return {
            Versions: [{ Key: "a", VersionId: "1" }],
            NextKeyMarker: "a",
            NextVersionIdMarker: "1",
          };
        return { DeleteMarkers: [{ Key: "a", VersionId: "2" }], Versions: [{ Key: "b" }] };
      },
      deleteObject: async ({ Key, VersionId }: { Key: string; VersionId: string }) =>
        deleted.push(`${Key} ${VersionId}`),
    };
    const { store, call, key } = await newWorld({ client });
    await runOnce(call, key, {}, () => LARGE);
    await eraseResult({ operation: "report", scope: "acme", store }, key, ERASURE);
    expect([asked, deleted]).toEqual([
      [undefined, "a"],
      ["a 1", "b null", "a 2"],
    ]);
  });

  it("leaves the objects of other keys, and those of a key that may still run", async () => {
    const { store, call, key, objects } = await newWorld();
    await runOnce(call, randomUUID(), {}, () => LARGE);
    await runOnce(call, key, {}, () => LARGE);
    await eraseResult({ operation: "report", scope: "acme", store }, key, ERASURE);
    expect(objects.size).toBe(1);
    const absent = await eraseResult({ operation: "report", scope: "acme", store }, randomUUID(), ERASURE);
    expect([absent, objects.size]).toEqual([{ erased: false, state: "absent" }, 1]);
  });
});
