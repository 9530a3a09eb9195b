// Messages that can never be sent: refused by commit before anything is written.
import { describe, expect, it } from "vitest";
import { OutboxTransactionTooLargeError } from "../../../lib/core/errors.ts";
import type { Execution } from "../../../lib/core/execution.ts";
import type { OutgoingMessage } from "../../../lib/core/messages/outgoing-message.ts";
import type { MemoryWrite } from "../../../lib/testing/index.ts";
import { intercepted } from "../../kit/faults/faulty-store.ts";
import { newWorld } from "../world.ts";
import { PAID, STORED, toBus, toFifo, toQueue, toTopic, unsent } from "./given.ts";

type Work = Execution<MemoryWrite>;

const FAULTS: readonly (readonly [title: string, messages: unknown, code: string, why: string])[] = [
  [
    "a body that JSON does not hold",
    [{ ...toQueue, body: new Map() }],
    "COMMIT_INVALID",
    "messages[0]: can't send the body",
  ],
  [
    "a body that is missing",
    [toFifo, { ...toQueue, body: undefined }],
    "COMMIT_INVALID",
    "messages[1]: the body is",
  ],
  [
    "a body that is too large",
    [{ ...toTopic, body: "x".repeat(258_049) }],
    "COMMIT_INVALID",
    "the body is 258049",
  ],
  [
    "an undefined queue",
    [{ ...toQueue, queue: undefined }],
    "COMMIT_INVALID",
    "messages[0]: `queue` must be a queue URL",
  ],
  ...(
    [
      [
        "an account that is not there",
        { ...toQueue, queue: "https://sqs.eu-central-1.amazonaws.com/undefined/q" },
      ],
      ["a host of somebody else", { ...toQueue, queue: "https://sqs.example.com/123456789012/payments" }],
      ["a trailing slash", { ...toQueue, queue: `${toQueue.queue}/` }],
      ["a queue as a topic", { ...toTopic, topic: "arn:aws:sqs:eu-central-1:123456789012:payments" }],
      ["the name of AWS", { ...toBus, source: "aws.orders" }],
    ] as const
  ).map(
    ([title, message]) =>
      [`${title}, to which nothing can be sent`, [message], "COMMIT_INVALID", "messages[0]: `"] as const,
  ),
  [
    "no destination",
    [{ key: "k", body: "b" }],
    "COMMIT_INVALID",
    "messages[0]: must be an object with `queue`",
  ],
  [
    "an unknown field",
    [{ ...toQueue, delay: 5 }],
    "COMMIT_INVALID",
    "messages[0]: `delay` isn't a field of this message",
  ],
  ["something that isn't an array", toQueue, "COMMIT_INVALID", "`messages` of a commit must be an array"],
  ["null", null, "COMMIT_INVALID", "`messages` of a commit must be an array"],
  ["no key", [{ ...toQueue, key: undefined }], "MESSAGE_ID_INVALID", "messages[0]: the key is missing"],
  [
    "no group for a FIFO queue",
    [{ ...toFifo, group: undefined }],
    "MESSAGE_ID_INVALID",
    "messages[0]: the group is",
  ],
  ["its own id", [{ ...toFifo, messageDeduplicationId: "1" }], "MESSAGE_ID_INVALID", "isn't accepted"],
  [
    "twins",
    [toFifo, { ...toFifo, body: "2" }],
    "MESSAGE_ID_INVALID",
    "messages[1]: has the key of messages[0]",
  ],
];

describe.each(["claimed", "optimistic"] as const)("commit with messages that cannot be sent, %s", (mode) => {
  it.each(FAULTS)(
    "refuses %s before any I/O, and the handler may commit something else",
    async (_, messages, code, why) => {
      const requests: string[] = [];
      const world = newWorld({ mode });
      const store = intercepted(world.memory, (name, request) => {
        requests.push(name);
        return request();
      });
      let before = -1;
      const work = async ({ commit }: Work) => {
        before = requests.length;
        const bad = () =>
          commit("bad", { writes: [world.orderWrite()], messages: messages as OutgoingMessage[] });
        expect(bad).toThrow(expect.objectContaining({ code, message: expect.stringContaining(why) }));
        expect(requests).toHaveLength(before);
        expect(await unsent(world)).toEqual([]);
        return commit("good", { writes: [world.orderWrite()], messages: [PAID] });
      };

      expect(await world.call(work, { store })).toBe("good");

      expect(requests.slice(before)).toEqual([mode === "claimed" ? "settle" : "insert"]);
      expect(world.orders()).toBe(1);
      expect(await unsent(world)).toMatchObject([{ messages: [STORED] }]);
    },
  );

  it("a bad message in a commit that the handler does not await fails the handler, and a retry may run", async () => {
    const world = newWorld({ mode });
    const work = async ({ commit }: Work) => {
      void commit("lost", { messages: [{ ...PAID, body: new Date(0) }] });
      return "returned";
    };

    await expect(world.call(work)).rejects.toMatchObject({ code: "COMMIT_INVALID" });

    expect(await unsent(world)).toEqual([]);
    expect(await world.call(async () => "ran again")).toBe("ran again");
  });

  it("a message too large for a store is reported with its own code, before any I/O", async () => {
    const world = newWorld({ mode });
    const refuse = () => {
      throw new OutboxTransactionTooLargeError("too large");
    };
    const store = new Proxy(world.memory, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target);
        return name === "checkEffects" ? refuse : typeof value === "function" ? value.bind(target) : value;
      },
    });

    const call = world.call(({ commit }: Work) => commit("done", { messages: [PAID] }), { store });

    await expect(call).rejects.toMatchObject({ code: "OUTBOX_TRANSACTION_TOO_LARGE" });
    expect(await unsent(world)).toEqual([]);
  });
});
