// Several destinations, of which one is gone, hangs or is slow: the others never notice, and nothing is sent twice for it.
import { type OutboxBacklogEvent, type OutboxOptions, outboxRelay, outboxSweeper } from "onceonly/messaging";
import type { StoredMessage } from "onceonly/store-kit";
import { fakeClock, fakeRandom } from "onceonly/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import { withOutbox } from "../kit/with-outbox.ts";

const URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Entry = { readonly Id: string; readonly MessageBody: string };
type Answer = "takes" | "is gone" | "hangs";

/** The SDK's package is loaded by the first send, which takes time that no clock knows. */
beforeAll(async () => {
  await import("@aws-sdk/client-sqs");
});

/** A table's commits, queues that behave, and relay and sweeper with 30 seconds for each invocation. */
function newWorld(sendMs = 10) {
  const clock = fakeClock();
  const memory = new MemoryOutbox(() => {});
  const state = { requests: 0, sends: 0, sending: 0, peak: 0, answers: new Map<string, Answer>() };
  const accepted: string[] = [];
  const backlogs: OutboxBacklogEvent[] = [];
  const images = new Map<string, ReturnType<MemoryOutbox["readChange"]>>();
  let stream: { dynamodb: { SequenceNumber: string } }[] = [];
  const counted = <T>(request: () => Promise<T>): Promise<T> => {
    state.requests++;
    return request();
  };
  const outbox = withOutbox(memory, {
    readChange: (change) =>
      structuredClone(images.get((change as (typeof stream)[number]).dynamodb.SequenceNumber)),
    take: (...taking) => counted(() => memory.take(...taking)),
    keep: (...kept) => counted(() => memory.keep(...kept)),
    markSent: (...sent) => counted(() => memory.markSent(...sent)),
    readNotes: () => counted(() => memory.readNotes()),
    replaceNotes: (...notes) => counted(() => memory.replaceNotes(...notes)),
  });
  async function send({ input }: { input: { QueueUrl: string; Entries: Entry[] } }) {
    state.requests++;
    state.sends++;
    const answer = state.answers.get(input.QueueUrl.slice(URL.length)) ?? "takes";
    if (answer === "hangs") return new Promise<never>(() => {});
    state.peak = Math.max(state.peak, ++state.sending);
    await clock.sleep(sendMs);
    state.sending--;
    if (answer === "is gone") throw Object.assign(new Error("gone"), { name: "QueueDoesNotExist" });
    accepted.push(...input.Entries.map(({ MessageBody }) => MessageBody));
    return { Successful: input.Entries.map(({ Id }) => ({ Id, MessageId: Id })) };
  }
  const options: OutboxOptions = {
    outbox,
    destinations: "any",
    sqs: { config: {}, send },
    clock,
    random: fakeRandom("destinations"),
    observe: (event) => event.event === "backlog" && backlogs.push(event),
  };
  const [relay, sweeper] = [outboxRelay(options), outboxSweeper(options)];
  const context = () => {
    const deadline = clock.now() + 30_000;
    return { getRemainingTimeInMillis: () => deadline - clock.now() };
  };
  let commits = 0;

  return {
    clock,
    memory,
    state,
    accepted,
    backlogs,
    options,
    commit(...messages: readonly StoredMessage[]): void {
      const name = `op##${++commits}`;
      memory.add({ recordKey: name, token: name, committedAt: clock.now(), messages });
      images.set(name, memory.readChange(name));
      stream.push({ dynamodb: { SequenceNumber: name } });
    },
    /** Invocations of the relay until the stream is worked off; how many. */
    async relay(): Promise<number> {
      for (let invocations = 1; ; invocations++) {
        const Records = stream.slice(0, 100);
        const { batchItemFailures } = await clock.run(relay({ Records }, context()));
        const first = Records.findIndex(
          ({ dynamodb }) => dynamodb.SequenceNumber === batchItemFailures[0]?.itemIdentifier,
        );
        stream = stream.slice(first === -1 ? Records.length : first);
        if (stream.length === 0 || invocations === 200) return invocations;
      }
    },
    loseStream(): void {
      stream = [];
    },
    async sweep() {
      await clock.advance(MINUTE);
      return clock.run(sweeper({}, context()));
    },
  };
}

const to = (queue: string, key: string, group?: string): StoredMessage => ({
  queue: `${URL}${queue}`,
  key,
  body: key,
  ...(group !== undefined && { group }),
});

describe("a destination that is gone", () => {
  it.each([
    ["standard", "healthy", "dead"],
    ["FIFO", "healthy.fifo", "dead.fifo"],
  ])(
    "H72: D1, of a commit to it and to a healthy one, %s, the healthy message is sent once in 75 hours",
    async (_, healthy, dead) => {
      const world = newWorld();
      world.state.answers.set(dead, "is gone");
      world.commit(to(healthy, "charge", "order"), to(dead, "mail", "order"));
      await world.relay();

      for (let minute = 0; minute < 75 * 60; minute++) await world.sweep();

      expect(world.accepted).toEqual(["charge"]);
      // It is parked, not lost.
      expect(world.backlogs.at(-1)).toMatchObject({ waiting: 0, parked: 1 });
      expect(world.memory.changes).toHaveLength(1);
      expect(world.state.sends).toBeLessThan(250);
    },
    60_000,
  );

  it("H72: D1, the sweeper sends postponed messages later, and reports the age of the oldest waiting commit until then", async () => {
    const world = newWorld();
    world.state.answers.set("dead", "is gone");
    world.commit(to("healthy", "charge"), to("dead", "mail"));
    await world.relay();
    for (let minute = 0; minute < 60; minute++) await world.sweep();
    expect(world.backlogs.at(-1)).toMatchObject({ waiting: 1, parked: 0 });
    expect(world.backlogs.at(-1)!.oldestMs).toBeGreaterThanOrEqual(HOUR);
    world.state.answers.clear();
    for (let minute = 0; minute < 16; minute++) await world.sweep();

    expect(world.accepted).toEqual(["charge", "mail"]);
    expect(world.backlogs.at(-1)).toEqual({
      event: "backlog",
      by: "sweeper",
      waiting: 0,
      oldestMs: 0,
      parked: 0,
    });
  });

  it("H72: D3, healthy FIFO groups of the commits that share it are all sent: 15 of 15", async () => {
    const world = newWorld();
    world.state.answers.set("dead.fifo", "is gone");
    for (let order = 1; order <= 15; order++) {
      const group = `customer-${order % 3}`;
      world.commit(
        to("payments.fifo", `order-${order}`, group),
        ...(order % 2 ? [to("dead.fifo", `mail-${order}`, group)] : []),
      );
    }

    await world.relay();

    expect(world.accepted).toHaveLength(15);
    for (const customer of [0, 1, 2]) {
      const own = world.accepted
        .map((name) => Number(name.slice(6)))
        .filter((order) => order % 3 === customer);
      expect(own).toEqual([...own].sort((one, other) => one - other));
    }
  });
});

describe("a destination that hangs", () => {
  it("D4: after 320 commits to it 20 of 20 healthy messages are sent within two sweeps", async () => {
    const world = newWorld();
    world.state.answers.set("hanging", "hangs");
    for (let index = 0; index < 320; index++) world.commit(to("hanging", `lost-${index}`));
    for (let index = 0; index < 20; index++) world.commit(to("healthy", `paid-${index}`));
    world.loseStream();

    await world.sweep();
    await world.sweep();

    expect(world.accepted).toHaveLength(20);
  });

  it("D4: the relay sends the messages after it within one invocation", async () => {
    const world = newWorld();
    world.state.answers.set("hanging.fifo", "hangs");
    for (let index = 0; index < 40; index++) {
      world.commit(to("hanging.fifo", `lost-${index}`, `${index}`));
      world.commit(to("healthy.fifo", `paid-${index}`, `${index}`));
    }

    expect(await world.relay()).toBe(1);

    expect(world.accepted).toHaveLength(40);
  });

  it("D4: isn't asked again by the next invocation, which follows immediately", async () => {
    const world = newWorld();
    world.state.answers.set("hanging", "hangs");
    world.commit(to("hanging", "first"));
    await world.relay();
    const { sends } = world.state;

    world.commit(to("hanging", "second"));
    await world.relay();

    expect(world.state.sends).toBe(sends);
  });
});

describe("a batch of many commits", () => {
  it("shares requests between the commits to one queue, and sends to 10 queues at the same time", async () => {
    const world = newWorld();
    for (let index = 0; index < 25; index++) world.commit(to("healthy", `shared-${index}`));
    await world.relay();
    expect(world.state.sends).toBe(3);

    for (let index = 0; index < 25; index++) world.commit(to(`queue-${index}`, `paid-${index}`));
    await world.relay();

    expect(world.state.peak).toBe(10);
    expect(world.accepted).toHaveLength(50);
  });
});

describe("more than one invocation holds", () => {
  it("H73: D2, 10 commits of 100 messages of one group at 40 ms take 1.1 requests for each that is needed", async () => {
    const world = newWorld(40);
    for (let commit = 0; commit < 10; commit++) {
      world.commit(...Array.from({ length: 100 }, (_, index) => to("hot.fifo", `${commit}-${index}`, "hot")));
    }

    expect(await world.relay()).toBeLessThanOrEqual(3);

    expect(world.accepted).toHaveLength(1000);
    expect(world.memory.changes).toEqual([]);
    expect(world.state.requests).toBeLessThanOrEqual(1.1 * (1000 + 10));
  });

  it("H73: D2, a commit at the documented maximum, 1000 messages of one group, is sent by relay or sweeper, each message once", async () => {
    for (const by of ["relay", "sweep"] as const) {
      const world = newWorld(35);
      const names = Array.from({ length: 1000 }, (_, index) => `${index}`);
      world.commit(...names.map((name) => to("hot.fifo", name, "hot")));
      if (by === "sweep") world.loseStream();

      for (let tries = 0; world.memory.changes.length > 0 && tries < 5; tries++) await world[by]();

      expect(world.accepted).toEqual(names);
      expect(world.state.requests).toBeLessThanOrEqual(1.1 * 1001);
    }
  });
});
