// Rollbacks and rolling deployments: code of earlier commits beside this release, on the same records of real engines.
import { randomUUID } from "node:crypto";
import { PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { fakeClock } from "onceonly/testing";
import { describe, expect, inject, it } from "vitest";
import { RECORD_VERSION, STEPS_VERSION } from "../../lib/contract.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { connect, createOutboxTable } from "../kit/tables.ts";

interface Release {
  readonly runOnce: typeof runOnce;
  readonly DynamoDBStore: typeof DynamoDBStore;
}

const current: Release = { runOnce, DynamoDBStore };
const archived = (commit: string): Promise<Release> =>
  import(new URL(`../fixtures/archive/${commit}.mjs`, import.meta.url).href);
const COMMITS = ["7bc159a", "bb55d8a"];
const MODES = ["claimed", "optimistic"] as const;

const atMostOnce = { atMostOnce: true };
const DAY = 86_400;

/** Work that announces its start, and doesn't end. */
const dying = (begun: () => void) => (): Promise<never> => {
  begun();
  return new Promise(() => {});
};

describe.each(inject("dynamodbEngines"))("releases on $name", ({ endpoint }) => {
  async function given(commit: string) {
    const client = connect(endpoint);
    const tableName = await createOutboxTable(client);
    const clock = fakeClock(Date.now());
    const key = randomUUID();
    const optionsOf = (release: Release, more: object = {}) => {
      const store = new release.DynamoDBStore({ tableName, client });
      return { operation: "order", store, leaseSeconds: 30, clock, ...more } as const;
    };
    const record = async () => (await client.send(new ScanCommand({ TableName: tableName }))).Items?.[0];
    const former = await archived(commit);
    return {
      clock,
      record,
      putBack: (Item: NonNullable<Awaited<ReturnType<typeof record>>>) =>
        client.send(new PutItemCommand({ TableName: tableName, Item })),
      /** This release. */
      call: (work: Parameters<typeof runOnce<unknown>>[3]) =>
        current.runOnce(optionsOf(current, { renewLease: false }), key, {}, work),
      /** The archived one. */
      callFormer: (work: Parameters<typeof runOnce<unknown>>[3], more: object = {}) =>
        former.runOnce(optionsOf(former, more), key, {}, work),
    };
  }

  type World = Awaited<ReturnType<typeof given>>;

  /** Resolves once the step has begun: the process dies in it. */
  const dieInStep = ({ call }: World) =>
    new Promise<void>((begun) => {
      void call(({ step }) => step("charge", dying(begun), atMostOnce));
    });

  /** How an attempt of this release ended, and left a record with steps. */
  const LEFT: Record<string, (world: World) => Promise<unknown>> = {
    "in progress, in a step that has begun": dieInStep,
    "in progress, after a step that is done": ({ call }) =>
      new Promise<void>((done) => {
        void call(async ({ step }) => {
          await step("reserve", () => 1);
          return dying(done)();
        });
      }),
    "held, in a step that has begun": ({ call }) =>
      call(({ step }) => step("charge", () => Promise.reject(new Error("reset")), atMostOnce)).catch(
        () => {},
      ),
    "released, after a step that is done": ({ call }) =>
      call(async ({ step }) => {
        await step("reserve", () => 1);
        throw new Error("down");
      }).catch(() => {}),
  };

  const cases = COMMITS.flatMap((commit) => Object.keys(LEFT).map((left) => [commit, left] as const));

  it.each(cases)(
    "H89: R5: the code of %s refuses a record that is %s, and runs nothing",
    async (commit, left) => {
      const world = await given(commit);
      await LEFT[left]!(world);
      const before = await world.record();
      expect(before?.version?.N).toBe(`${STEPS_VERSION}`);
      let runs = 0;

      // While the lease lasts, after it and, if the step may have happened, after the retention too.
      for (const seconds of left.includes("begun") ? [0, 60, 2 * DAY] : [0, 60]) {
        await world.clock.advance(seconds * 1000);
        for (const mode of MODES) {
          const ended = world.callFormer(async () => ++runs, { mode });
          await expect(ended, mode).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
        }
      }

      expect(runs).toBe(0);
      expect(await world.record()).toEqual(before);
    },
  );

  it.each(COMMITS)(
    "H89: R5: the code of %s would run over a begun step without its feature bit",
    async (commit) => {
      const world = await given(commit);
      await dieInStep(world);
      await world.putBack({ ...(await world.record()), version: { N: `${RECORD_VERSION}` } });
      await world.clock.advance(60_000);

      expect(await world.callFormer(() => "second charge")).toBe("second charge");
    },
  );

  it.each(COMMITS)(
    "H89: R5: the code of %s replays what this release completed, with steps",
    async (commit) => {
      const world = await given(commit);
      await world.call(async ({ step }) => {
        const charge = await step("charge", () => "ch_1", atMostOnce);
        return { charge };
      });

      for (const mode of MODES) {
        expect(await world.callFormer(() => "never", { mode })).toEqual({ charge: "ch_1" });
      }
    },
  );

  it.each(COMMITS)("H89: R5: this release replays what the code of %s completed", async (commit) => {
    const world = await given(commit);
    await world.callFormer(() => ({ charge: "ch_1" }));

    expect(await world.call(() => "never")).toEqual({ charge: "ch_1" });
  });

  it.each(COMMITS)("H89: R5: this release replays the error that the code of %s recorded", async (commit) => {
    const world = await given(commit);
    const declined = Object.assign(new Error("declined"), { code: "CARD_DECLINED" });
    const options = { isFinalError: () => true };
    await world.callFormer(() => Promise.reject(declined), options).catch(() => {});

    await expect(world.call(() => "never")).rejects.toMatchObject({ code: "CARD_DECLINED" });
  });

  it.each(COMMITS)(
    "H89: R5: this release waits for a lease of %s, then takes its key over",
    async (commit) => {
      const world = await given(commit);
      await new Promise<void>((begun) => {
        void world.callFormer(dying(begun));
      });

      await expect(world.call(() => "early")).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
      await world.clock.advance(60_000);
      expect(await world.call(({ step }) => step("charge", () => "once", atMostOnce))).toBe("once");
      expect(await world.callFormer(() => "never")).toBe("once");
    },
  );

  it.each(COMMITS)(
    "H89: R5: a worker of %s whose key this release took over writes nothing",
    async (commit) => {
      const world = await given(commit);
      let end = (_: string) => {};
      let zombie: Promise<unknown> = Promise.resolve();
      await new Promise<void>((begun) => {
        zombie = world.callFormer(() => {
          begun();
          return new Promise<string>((resolve) => {
            end = resolve;
          });
        });
      });
      await world.clock.advance(60_000);
      await dieInStep(world);
      const before = await world.record();

      end("late");

      await expect(zombie).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
      expect(await world.record()).toEqual(before);
    },
  );
});
