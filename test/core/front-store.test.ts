// Each store that stands in front of others can do what those can, and says what has to be known of them.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Store, watchNewKeys } from "onceonly";
import { openTelemetry } from "onceonly/otel";
import { cached, encrypted, migrating, offloaded, redacted } from "onceonly/stores";
import { MemoryStore } from "onceonly/testing";
import { valkeyCache } from "onceonly/valkey";
import { describe, expect, it } from "vitest";
import { crossChecksOf } from "../../lib/core/front-store.ts";
import type { CrossCheck, CrossChecked } from "../../lib/core/record-cache.ts";
import { keyService } from "../stores/privacy-given.ts";

const cache = valkeyCache({ client: { send: () => away() }, prefix: "front" });

const away = () => Promise.reject(new Error("away"));
const s3 = { putObject: away, getObject: away, listObjectVersions: away, deleteObject: away };

/** By the name of the class. */
const FRONTS: Readonly<Record<string, (store: Store) => Store>> = {
  CachedStore: (store) => cached(store),
  RememberingStore: (store) => cached(store, { in: cache }),
  EncryptedStore: (store) => encrypted(store, { keys: keyService() }),
  RedactedStore: (store) => redacted(store, "all"),
  OffloadedStore: (store) => offloaded(store, { bucket: "results", client: s3 }),
  NewKeysStore: (store) => watchNewKeys(store, { observe: () => {} }),
  LinkedStore: (store) => openTelemetry().linked(store),
  MigratingStore: (store) =>
    migrating(store, withAll(new MemoryStore(), "handlerFailed", "handlerLost", "handlerOver")),
};

/** These stand alone, or hand on to themselves. */
const ALONE = ["ConnectedStore", "MemoryStore", "PostgresStore", "PostgresTransactions", "ValkeyStore"];

type OptionalOf<T> = { [Name in keyof T]-?: object extends Pick<T, Name> ? Name : never }[keyof T];

/** All that a store may have or lack. A store without `erase` is erased by its other moves. */
const SKILLS: Record<
  Exclude<OptionalOf<Store & CrossChecked>, "erase" | "patienceMs" | "patienceClock">,
  true
> = {
  writeStep: true,
  unknownOutcomes: true,
  handlerFailed: true,
  handlerLost: true,
  handlerOver: true,
  crossCheck: true,
};

/** A memory store with all skills but some, which records what it was asked. */
function withAll(store: MemoryStore, ...without: readonly string[]): Store {
  const passedOn = Object.keys(SKILLS).filter((name) => !without.includes(name));
  return Object.assign(
    Object.create(store),
    Object.fromEntries(Object.keys(SKILLS).map((name) => [name, undefined])),
    Object.fromEntries(passedOn.map((name) => [name, Reflect.get(store, name) ?? (() => [name])])),
  );
}

describe("crossChecksOf", () => {
  const remembering = (...checks: CrossCheck[]) => ({
    async *crossCheck() {
      yield* checks;
    },
  });

  it("checks everything that the stores remember, one after another", async () => {
    const crossCheck = crossChecksOf(remembering("confirmed", "dropped"), {}, remembering("unchecked"));

    const checks: CrossCheck[] = [];
    for await (const check of crossCheck!()) checks.push(check);

    expect(checks).toEqual(["confirmed", "dropped", "unchecked"]);
  });

  it("is absent if no store remembers anything", () => {
    expect([crossChecksOf(), crossChecksOf({}, new MemoryStore())]).toEqual([undefined, undefined]);
  });
});

it("every store of the package works in front of others, or by itself", () => {
  const lib = fileURLToPath(new URL("../../lib", import.meta.url));
  const names = readdirSync(lib, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => [
      ...readFileSync(join(lib, path), "utf8").matchAll(
        /^(?:export )?class (\w+)[^{]*?\b(?:extends (?:Front|Result)Store|implements Store)\b/gm,
      ),
    ])
    .map(([, name]) => name);

  expect(names.toSorted()).toEqual([...Object.keys(FRONTS), ...ALONE].toSorted());
});

describe.each(Object.entries(FRONTS))("%s", (_, inFrontOf) => {
  it.each(Object.keys(SKILLS))("has %s exactly if the inner store has it", (skill) => {
    const [has, lacks] = [
      inFrontOf(withAll(new MemoryStore())),
      inFrontOf(withAll(new MemoryStore(), skill)),
    ];

    expect(typeof Reflect.get(has, skill)).toBe("function");
    // A cache has something of its own to compare.
    if (skill !== "crossCheck" || !Object.hasOwn(lacks, skill))
      expect(Reflect.get(lacks, skill)).toBeUndefined();
  });

  it("marks sealed results as sealed, so no cache outside the process gets them unsealed", () => {
    const sealed = encrypted(new MemoryStore(), { keys: keyService() });

    expect(() => cached(inFrontOf(sealed), { in: cache })).toThrow(
      /put the cache inside `encrypted`|must not be an encrypted store/,
    );
  });

  it("R1: marks a pool of connections, so that a batch doesn't run more records than it has connections", () => {
    const pooled = Object.assign(new MemoryStore(), { usesPool: true });

    expect(Reflect.get(inFrontOf(pooled), "usesPool")).toBe(true);
    expect(Reflect.get(inFrontOf(new MemoryStore()), "usesPool")).toBe(false);
  });

  it("H39: marks a store that keeps results in a bucket, so that an erasure is refused without it", () => {
    const bucket = Object.assign(new MemoryStore(), { usesBucket: true });

    expect(Reflect.get(inFrontOf(bucket), "usesBucket")).toBe(true);
  });

  it("marks redacted results as redacted, so no store seals them before that", () => {
    const part = redacted(new MemoryStore(), "all");

    expect(() => encrypted(inFrontOf(part), { keys: keyService() })).toThrow("must not be a redacted store");
  });
});
