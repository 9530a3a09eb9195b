// Commits that wait behind others, for a line or a destination: what happens to them, and what they cost, when the head of the
// line, the notes or the destination change.
import { type OutboxBacklogEvent, outboxRelay, outboxSweeper } from "onceonly/messaging";
import type { StoredMessage } from "onceonly/store-kit";
import { fakeClock, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { RecordCorruptError } from "../../lib/core/errors.ts";
import { isQueued } from "../../lib/core/messages/outbox.ts";
import { linesOf, parseNotes } from "../../lib/messaging/line-notes.ts";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import { timeless } from "../kit/time/timeless.ts";
import { withOutbox } from "../kit/with-outbox.ts";

const URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** `pay.fifo/a1` is a message in group `a` of the queue `pay.fifo`. */
function message(name: string): StoredMessage {
  const [queue, key] = name.split("/") as [string, string];
  return { queue: `${URL}${queue}`, key, group: key.replace(/\d+$/, ""), body: name };
}

function newWorld(destinations: Parameters<typeof outboxSweeper>[0]["destinations"] = "any") {
  const clock = fakeClock();
  const memory = new MemoryOutbox(() => {});
  const asked = { load: 0, take: 0, keep: 0, markSent: 0 };
  /** Queues that refuse every request, and messages that are refused by themselves. */
  const state = {
    down: [] as string[],
    refused: [] as string[],
    /** Bodies of messages that make their whole request fail. */
    poison: [] as string[],
    /** Keys of records that can't be read. */
    corrupt: [] as string[],
    beforeSend: async () => {},
  };
  const accepted: string[] = [];
  const backlogs: OutboxBacklogEvent[] = [];
  const counted =
    <Name extends keyof typeof asked>(name: Name) =>
    (...given: unknown[]): never => {
      asked[name]++;
      if (name === "load" && state.corrupt.includes(String(given[0])))
        return Promise.reject(new RecordCorruptError("unreadable")) as never;
      return (memory[name] as (...all: unknown[]) => never).apply(memory, given);
    };
  const options = {
    outbox: withOutbox(memory, {
      load: counted("load"),
      take: counted("take"),
      keep: counted("keep"),
      markSent: counted("markSent"),
    }),
    destinations,
    sqs: {
      config: {},
      async send({ input }: { input: { QueueUrl: string; Entries: { Id: string; MessageBody: string }[] } }) {
        await state.beforeSend();
        const isPoison = input.Entries.some(({ MessageBody }) => state.poison.includes(MessageBody));
        if (isPoison || state.down.includes(input.QueueUrl.slice(URL.length)))
          throw Object.assign(new Error("gone"), { name: "QueueDoesNotExist" });
        const isRefused = ({ MessageBody }: { MessageBody: string }) => state.refused.includes(MessageBody);
        const passed = input.Entries.filter((entry) => !isRefused(entry));
        accepted.push(...passed.map(({ MessageBody }) => MessageBody));
        return {
          Successful: passed.map(({ Id }) => ({ Id, MessageId: Id })),
          Failed: input.Entries.filter(isRefused).map(({ Id }) => ({
            Id,
            Code: "Refused",
            SenderFault: true,
          })),
        };
      },
    },
    clock: timeless(clock),
    random: fakeRandom("queued"),
    observe: (event: { event: string }) =>
      event.event === "backlog" && backlogs.push(event as OutboxBacklogEvent),
  };
  const sweep = outboxSweeper(options);
  const keyOf = (names: readonly string[]) => `op##${names.join()}`;
  return {
    memory,
    state,
    accepted,
    backlogs,
    clock,
    async commit(...names: string[]): Promise<string> {
      const recordKey = keyOf(names);
      memory.add({
        recordKey,
        token: recordKey,
        committedAt: clock.now(),
        messages: names.map(message),
      });
      await clock.advance(1);
      return recordKey;
    },
    /** One sweep after that much time: what it asked the outbox for. */
    async sweep(ms = 16 * MINUTE, context?: Parameters<typeof sweep>[1]) {
      await clock.advance(ms);
      Object.assign(asked, { load: 0, take: 0, keep: 0, markSent: 0 });
      await sweep({}, context);
      return { ...asked };
    },
    relay: (...keys: string[]) =>
      outboxRelay(options)({
        Records: keys.map((key) => ({ dynamodb: { SequenceNumber: key }, toString: () => key })),
      }),
    /** Loses what is noted about one queue, or about one group of it. */
    async loseNote(name: string): Promise<void> {
      const text = await memory.readNotes();
      const { destination } = linesOf(message(name))!;
      const isOther = ([key]: [string, unknown]) => !key.startsWith(destination);
      await memory.replaceNotes(
        text,
        JSON.stringify(Object.fromEntries(Object.entries(parseNotes(text)).filter(isOther))),
      );
    },
    /** As an operator's decision: the commit is due at its first place, unless nothing of it is left. */
    async decide(recordKey: string, state: "waiting" | "dropped"): Promise<void> {
      const unsent = (await memory.load(recordKey))!;
      await memory.keep(
        unsent,
        unsent.messages.map(() => ({ state, tries: 0, at: clock.now() })),
        unsent.committedAt,
      );
    },
  };
}

describe("commits that wait behind others", () => {
  it.each(["dropped", "waiting"] as const)(
    "R5: when an operator has the head of a line %s, the others are sent in their order",
    async (decision) => {
      const world = newWorld();
      world.state.down = ["pay.fifo"];
      const head = await world.commit("pay.fifo/a1");
      for (const name of ["pay.fifo/a2", "pay.fifo/a3", "pay.fifo/a4"]) await world.commit(name);
      await world.sweep();
      await world.decide(head, decision);
      await world.sweep();
      world.state.down = [];
      // A commit that was moved gets its place before the line goes on.
      for (let sweeps = 0; sweeps < 3; sweeps++) await world.sweep();

      const all = ["pay.fifo/a1", "pay.fifo/a2", "pay.fifo/a3", "pay.fifo/a4"];
      expect(world.accepted).toEqual(decision === "dropped" ? all.slice(1) : all);
      expect(await world.memory.readNotes()).toBe("{}");
    },
  );

  it("R5: when an operator drops the youngest, on which the note ends, the others are sent and the note goes", async () => {
    const world = newWorld();
    world.state.down = ["pay.fifo"];
    for (const name of ["pay.fifo/a1", "pay.fifo/a2"]) await world.commit(name);
    const last = await world.commit("pay.fifo/a3");
    await world.sweep();
    await world.decide(last, "dropped");
    world.state.down = [];
    await world.sweep();

    expect(world.accepted).toEqual(["pay.fifo/a1", "pay.fifo/a2"]);
    expect(await world.memory.readNotes()).toBe("{}");
  });

  it.each(["pay.fifo", "pay"])(
    "R5: when the notes about %s are lost, its commits are sent",
    async (queue) => {
      const world = newWorld();
      world.state.down = [queue];
      const names = Array.from({ length: 25 }, (_, number) => `${queue}/a${number}`);
      for (const name of names) await world.commit(name);
      await world.sweep();
      await world.memory.replaceNotes(await world.memory.readNotes(), "lost");
      world.state.down = [];
      await world.sweep();

      expect([...world.accepted].sort()).toEqual([...names].sort());
      expect(world.memory.changes).toEqual([]);
    },
  );

  it("R5: when a destination works again, a message that is refused holds up its own group, and the rest is sent", async () => {
    const world = newWorld();
    world.state.down = ["pay.fifo"];
    const groups = ["a", "b", "e"];
    for (let number = 0; number < 30; number++) await world.commit(`pay.fifo/${groups[number % 3]}${number}`);
    await world.sweep();
    Object.assign(world.state, { down: [], refused: ["pay.fifo/a0"] });
    await world.sweep();
    await world.sweep();

    expect(world.accepted).toHaveLength(20);
    // Relays send to the other groups themselves.
    await world.relay(await world.commit("pay.fifo/b30"));
    expect(world.accepted).toHaveLength(21);
    const retry = await world.sweep();
    expect(retry.take).toBe(1);
    expect(retry.load).toBeLessThan(8);
    world.state.refused = [];
    await world.sweep();
    expect(world.accepted.filter((name) => name.startsWith("pay.fifo/a"))).toEqual(
      Array.from({ length: 10 }, (_, number) => `pay.fifo/a${3 * number}`),
    );
    expect(await world.memory.readNotes()).toBe("{}");
  });

  it.each([0, 70_000])(
    "R5: a line to which commits keep coming is finished within two sweeps, in order, also if they are %i ms old",
    async (ageMs) => {
      const world = newWorld();
      const stream: string[] = [];
      const names = Array.from({ length: 12 }, (_, number) => `pay.fifo/a${number}`);
      world.state.down = ["pay.fifo"];
      for (const name of names.slice(0, 4)) await world.commit(name);
      await world.sweep();
      world.state.down = [];
      let next = 4;
      // With each message that is sent another one is committed, and relays get every second one at once.
      world.state.beforeSend = async () => {
        if (next === names.length) return;
        stream.push(await world.commit(names[next++]!));
        await world.clock.advance(ageMs);
        if (next % 2 > 0) return;
        const {
          batchItemFailures: [first],
        } = await world.relay(...stream);
        stream.splice(0, first ? stream.indexOf(first.itemIdentifier) : stream.length);
      };
      await world.sweep();
      await world.sweep(2 * MINUTE);

      expect(world.accepted).toEqual(names);
      expect(await world.memory.readNotes()).toBe("{}");
    },
  );

  it("R5: when the time of an invocation is over, the next sweep goes on with the line where it was", async () => {
    const world = newWorld();
    world.state.down = ["pay.fifo"];
    const names = Array.from({ length: 30 }, (_, number) => `pay.fifo/a${number}`);
    for (const name of names) await world.commit(name);
    await world.sweep();
    world.state.down = [];
    const time = { left: 60_000, sends: 0 };
    world.state.beforeSend = async () => {
      if (++time.sends === 5) time.left = 0;
    };
    await world.sweep(MINUTE, { getRemainingTimeInMillis: () => time.left });
    expect(world.accepted).toEqual(names.slice(0, 5));
    await world.sweep(MINUTE);

    expect(world.accepted).toEqual(names);
    expect(await world.memory.readNotes()).toBe("{}");
  });

  it("R5: a record that is gone by the time it is its turn holds up nothing", async () => {
    const world = newWorld();
    world.state.down = ["pay.fifo"];
    for (const name of ["pay.fifo/a1", "pay.fifo/a2", "pay.fifo/a3"]) await world.commit(name);
    await world.sweep();
    world.state.down = [];
    world.state.beforeSend = async () => world.memory.forget("op##pay.fifo/a2");
    await world.sweep();

    expect(world.accepted).toEqual(["pay.fifo/a1", "pay.fifo/a3"]);
    expect(await world.memory.readNotes()).toBe("{}");
  });

  it("R5: a line that works again costs no write for what waits for another destination, and a retry no read of it", async () => {
    const world = newWorld();
    world.state.down = ["dead.fifo", "pay.fifo"];
    for (let number = 0; number < 40; number++) {
      await world.commit(`dead.fifo/a${number}`);
      if (number % 4 === 0) await world.commit(`pay.fifo/a${number}`);
    }
    await world.sweep();
    await world.sweep();
    // Half of the line is sent, then it stops again.
    world.state.down = ["dead.fifo"];
    world.state.refused = ["pay.fifo/a20"];
    const half = await world.sweep();
    expect(world.accepted).toHaveLength(5);
    expect(half.markSent).toBe(5);
    expect(half.take).toBeLessThan(5 + 14);
    const retry = await world.sweep();
    expect(retry.take).toBe(2);
    expect(retry.load).toBeLessThan(20);

    world.state.refused = [];
    const rest = await world.sweep();
    expect(world.accepted).toEqual(Array.from({ length: 10 }, (_, number) => `pay.fifo/a${4 * number}`));
    expect(rest.keep).toBeLessThan(12);
  });

  it.each(["pay.fifo", "pay"])(
    "R5: what waits for %s for three days is parked, tried or not, and its age is known until then",
    async (queue) => {
      const world = newWorld();
      world.state.down = [queue];
      for (let number = 0; number < 30; number++) await world.commit(`${queue}/a${number}`);
      for (let hours = 0; hours < 70; hours += 2) await world.sweep(2 * HOUR);
      expect(world.backlogs.at(-1)!.oldestMs).toBeGreaterThan(69 * HOUR);
      expect(world.backlogs.at(-1)!.waiting).toBeGreaterThanOrEqual(29);
      await world.sweep(3 * HOUR);
      await world.sweep(MINUTE);

      expect(world.backlogs.at(-1)).toMatchObject({ waiting: 0, parked: 30, oldestMs: 0 });
      expect(world.memory.changes).toHaveLength(30);
    },
  );

  it("R5: a message that is refused by itself is tried at its own times, not with every sweep, while its commit waits in a line", async () => {
    const world = newWorld();
    world.state.down = ["pay.fifo"];
    world.state.refused = ["mail/x"];
    await world.commit("pay.fifo/a1", "mail/x");
    for (let minute = 0; minute < 60; minute++) await world.sweep(MINUTE);
    const [, mail] = (await world.memory.load("op##pay.fifo/a1,mail/x"))!.progress!;
    expect(mail!.tries).toBeGreaterThan(4);
    expect(mail!.tries).toBeLessThan(14);
    world.state.refused = [];
    await world.sweep();

    expect(world.accepted).toEqual(["mail/x"]);
  });

  it("R5: a message that no operation may send isn't tried with every sweep, and goes once it is allowed", async () => {
    const world = newWorld({ op: [`${URL}pay.fifo`] });
    world.state.down = ["pay.fifo"];
    await world.commit("pay.fifo/a1", "mail.fifo/a1");
    for (let minute = 0; minute < 60; minute++) await world.sweep(MINUTE);

    const [, mail] = (await world.memory.load("op##pay.fifo/a1,mail.fifo/a1"))!.progress!;
    expect(mail).toMatchObject({ code: "DestinationRefused" });
    expect(mail!.tries).toBeLessThan(14);
  });

  it("R5: a relay sends to a standard queue that rests, and leaves what fails to the sweeper", async () => {
    const world = newWorld();
    world.state.down = ["mail"];
    await world.commit("mail/a1");
    await world.sweep();
    expect(isQueued((await world.memory.load("op##mail/a1"))!)).toBe(true);
    await world.relay(await world.commit("mail/a2"));
    expect(isQueued((await world.memory.load("op##mail/a2"))!)).toBe(false);
    world.state.down = [];
    await world.relay(await world.commit("mail/a3"));

    expect(world.accepted).toEqual(["mail/a3"]);
    await world.sweep();
    expect([...world.accepted].sort()).toEqual(["mail/a1", "mail/a2", "mail/a3"]);
    expect(await world.memory.readNotes()).toBe("{}");
  });

  it.each(["pay.fifo", "pay"])(
    "R5: a commit for %s behind a dead line is sent although its own note is lost",
    async (queue) => {
      const world = newWorld();
      world.state.down = ["dead.fifo", queue];
      // One group, so one shard.
      for (let number = 0; number < 20; number++) await world.commit(`dead.fifo/a${number}`);
      await world.commit(`${queue}/a20`);
      await world.commit("dead.fifo/a21");
      await world.sweep();
      await world.loseNote(`${queue}/a20`);
      world.state.down = ["dead.fifo"];
      for (let minute = 0; minute < 10; minute++) {
        const { load } = await world.sweep(MINUTE);
        expect(load).toBeLessThan(16);
      }

      expect(world.accepted).toEqual([`${queue}/a20`]);
    },
  );

  it("R5: when the time is over during a look at what waits, later looks find the rest", async () => {
    const world = newWorld();
    world.state.down = ["dead.fifo", "pay"];
    await world.commit("dead.fifo/a0");
    const names = Array.from({ length: 12 }, (_, number) => `pay/a${number}`);
    for (const name of names) await world.commit(name);
    await world.sweep();
    await world.loseNote("pay/a");
    world.state.down = ["dead.fifo"];
    const time = { left: 60_000 };
    world.state.beforeSend = async () => {
      time.left = 0;
    };
    for (let minute = 0; minute < 6; minute++) {
      time.left = 60_000;
      await world.sweep(MINUTE, { getRemainingTimeInMillis: () => time.left });
    }
    world.state.beforeSend = async () => {};
    for (let minute = 0; minute < 4; minute++) await world.sweep(MINUTE);

    expect([...world.accepted].sort()).toEqual([...names].sort());
  });

  it("R5: an old head that an operator sent again doesn't keep the commits behind it from being parked", async () => {
    const world = newWorld();
    world.state.down = ["pay.fifo"];
    const head = await world.commit("pay.fifo/a1");
    for (const name of ["pay.fifo/a2", "pay.fifo/a3"]) await world.commit(name);
    await world.sweep();
    for (let sweeps = 0; sweeps < 6; sweeps++) await world.sweep();
    await world.sweep(72 * HOUR - 7 * 16 * MINUTE - 10 * MINUTE);
    // Old enough now, and the line isn't due.
    await world.clock.advance(14 * MINUTE);
    await world.decide(head, "waiting");
    for (let minute = 0; minute < 3; minute++) await world.sweep(1);

    expect(await world.memory.count()).toEqual({ waiting: 1, parked: 2 });
  });

  it.each([false, true])(
    "R5: a plain message that a relay couldn't send is sent while another message of its commit waits in a line (notes lost: %s)",
    async (isLost) => {
      const world = newWorld();
      world.state.down = ["pay.fifo", "mail"];
      await world.commit("pay.fifo/a0");
      await world.sweep();
      await world.relay(await world.commit("pay.fifo/a1", "mail/x"));
      await world.commit("pay.fifo/a2");
      await world.sweep(MINUTE);
      if (isLost) await world.loseNote("mail/x");
      world.state.down = ["pay.fifo"];
      for (let minute = 0; minute < 3; minute++) await world.sweep(MINUTE);
      expect(world.accepted).toEqual(["mail/x"]);

      world.state.down = [];
      await world.sweep();
      expect(world.accepted).toEqual(["mail/x", "pay.fifo/a0", "pay.fifo/a1", "pay.fifo/a2"]);
      expect(await world.memory.readNotes()).toBe("{}");
    },
  );

  it("R5: when the youngest commit of a note can't be read, the sweep goes on, and the note goes", async () => {
    const world = newWorld();
    world.state.down = ["pay.fifo"];
    await world.commit("pay.fifo/a1");
    const last = await world.commit("pay.fifo/a2");
    await world.sweep();
    // It isn't found in the index any more.
    await world.memory.park(last, world.clock.now());
    world.state.corrupt = [last];
    world.state.down = [];
    await world.sweep();

    expect(world.accepted).toEqual(["pay.fifo/a1"]);
    expect(await world.memory.readNotes()).toBe("{}");
  });

  it("R5: a commit that makes each request fail doesn't keep the others from a queue without order", async () => {
    const world = newWorld();
    Object.assign(world.state, { down: ["mail"], poison: ["mail/a0"] });
    const names = Array.from({ length: 12 }, (_, number) => `mail/a${number}`);
    for (const name of names) await world.commit(name);
    await world.sweep();
    world.state.down = [];
    for (let sweeps = 0; sweeps < 6; sweeps++) await world.sweep();

    expect([...world.accepted].sort()).toEqual(names.slice(1).sort());
  });

  it("R5: a note goes although its youngest commit, sent from elsewhere, still has a message that was refused", async () => {
    const world = newWorld();
    world.state.down = ["mail"];
    world.state.refused = ["chat/x"];
    await world.commit("mail/a1");
    await world.commit("mail/a2", "chat/x");
    await world.sweep();
    world.state.down = [];
    await world.sweep(MINUTE);

    expect(await world.memory.readNotes()).toBe("{}");
  });
});
