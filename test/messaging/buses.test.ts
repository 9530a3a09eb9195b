import { beforeEach, describe, expect, it, vi } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../lib/contract.ts";
import { prepareMessage } from "../../lib/core/messages/prepare-message.ts";
import { readHeldEnvelope } from "../../lib/messaging/envelope.ts";
import { EVENTBRIDGE_MAX_BYTES, eventBridgeEntry } from "../../lib/messaging/eventbridge.ts";
import { MessageProducer } from "../../lib/messaging/message-producer.ts";
import { fakeEventBridge } from "../kit/fake-client.ts";
import { timeless } from "../kit/time/timeless.ts";
import { failureOf } from "./given.ts";

let eventBridge: ReturnType<typeof fakeEventBridge>;
let slept: number[];
let producer: MessageProducer;

beforeEach(() => {
  eventBridge = fakeEventBridge();
  const clock = timeless({ now: () => 0 });
  slept = clock.slept;
  producer = new MessageProducer({
    eventBridge,
    clock,
    random: { token: () => "token", fraction: () => 1 },
  });
});

const event = (detailType: string, body: object = { id: 7 }) => ({
  bus: "orders",
  source: "shop",
  detailType,
  key: `order-7/${detailType}`,
  body,
});
const sentTypes = () => eventBridge.requests.map((entries) => entries.map(({ DetailType }) => DetailType));

describe("MessageProducer to an event bus", () => {
  it("puts the envelope into the detail, and answers with the event's id", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    expect(await producer.send({ ...event("paid"), traceparent })).toEqual({
      sent: true,
      messageId: "id of paid",
      sequenceNumber: "",
    });
    const [{ Detail, ...rest }] = eventBridge.accepted as [(typeof eventBridge.accepted)[0]];
    expect(rest).toEqual({ EventBusName: "orders", Source: "shop", DetailType: "paid" });
    expect(JSON.parse(Detail)).toEqual({
      id: 7,
      [ENVELOPE_ATTRIBUTE]: { v: 1, key: "order-7/paid", traceparent },
    });
    expect(readHeldEnvelope(JSON.parse(Detail)[ENVELOPE_ATTRIBUTE])).toEqual({
      found: true,
      envelope: { key: "order-7/paid", traceparent },
    });
  });

  it("replaces the envelope of an event that is sent on", async () => {
    await producer.send(event("shipped", { id: 7, [ENVELOPE_ATTRIBUTE]: { v: 1, key: "order-7/paid" } }));

    expect(JSON.parse(eventBridge.accepted[0]?.Detail ?? "")).toEqual({
      id: 7,
      [ENVELOPE_ATTRIBUTE]: { v: 1, key: "order-7/shipped" },
    });
  });

  it("sends 10 events a request, of 256 KiB in all, each bus on its own", async () => {
    const quarter = { text: "q".repeat(EVENTBRIDGE_MAX_BYTES / 4) };
    await producer.sendBatch(Array.from({ length: 12 }, (_, index) => event(`type-${index}`)));
    await producer.sendBatch(Array.from({ length: 4 }, (_, index) => event(`large-${index}`, quarter)));
    await producer.sendBatch([event("paid"), { ...event("paid"), bus: "refunds" }]);

    expect(sentTypes().map(({ length }) => length)).toEqual([10, 2, 3, 1, 1, 1]);
  });

  it("counts source, type and detail in UTF-8, and 14 bytes for the time of a commit, which is the event's time", () => {
    const prepared = prepareMessage("a", event("größe"));
    const { form, bytes } = eventBridgeEntry(prepared);
    const committed = eventBridgeEntry({ ...prepared, committedAt: 7 });

    expect(bytes).toBe(Buffer.byteLength(`shopgröße${form.Detail}`));
    expect(form).not.toHaveProperty("Time");
    expect(committed.bytes).toBe(Buffer.byteLength(`shopgröße${committed.form.Detail}`) + 14);
    expect(committed.form.Time).toEqual(new Date(7));
  });

  it("accepts a detail of 1020 KiB, which fits into 1 MiB with the longest envelope and names, and no byte more", async () => {
    const longest = "\uFFFF".repeat(128);
    const most = 1020 * 1024;
    const message = {
      ...event(longest, { text: "b".repeat(most - '{"text":""}'.length) }),
      source: longest,
      key: "\uFFFF".repeat(255),
    };

    // EventBridge adds the event's other fields: some hundred bytes.
    expect(eventBridgeEntry(prepareMessage("a", message)).bytes).toBeLessThan(1024 * 1024 - 500);
    await expect(producer.send({ ...message, body: { text: "b".repeat(most) } })).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
    });
    expect(eventBridge.requests).toEqual([]);
  });

  it("sends an event that is larger than 256 KiB separately: if that is too much, no other is rejected with it", async () => {
    const large = { text: "b".repeat(EVENTBRIDGE_MAX_BYTES) };

    await producer.sendBatch([event("small-1"), event("large", large), event("small-2")]);

    expect(sentTypes().map(({ length }) => length)).toEqual([1, 1, 1]);
  });

  it.each(["InternalFailure", "ThrottlingException"])(
    "tries only the event again that failed by %s",
    async (Code) => {
      let left = 2;
      eventBridge.faultOf = ({ DetailType }) => (DetailType === "paid" && left-- > 0 ? { Code } : undefined);

      const sent = await producer.sendBatch([event("created"), event("paid"), event("shipped")]);

      expect(sentTypes()).toEqual([["created", "paid", "shipped"], ["paid"], ["paid"]]);
      expect(sent.map(({ messageId }) => messageId)).toEqual([
        "id of created",
        "id of paid",
        "id of shipped",
      ]);
      expect(slept).toEqual([100, 200]);
    },
  );

  it.each(["MalformedDetail", "NotAuthorizedForSourceException"])(
    "does not try again after %s",
    async (Code) => {
      eventBridge.faultOf = ({ DetailType }) => (DetailType === "paid" ? { Code } : undefined);

      const { failed } = await failureOf(producer.sendBatch([event("paid"), event("shipped")]));

      expect(failed).toEqual([{ id: "0", code: Code }]);
      expect(sentTypes()).toHaveLength(1);
    },
  );

  it("tries an event again that a response doesn't mention", async () => {
    // The first is about the bus.
    const answers = [{}, {}, { Entries: [{ EventId: "e1" }] }];
    const client = { config: {}, send: async () => answers.shift() };
    const patient = new MessageProducer({
      eventBridge: client,
      clock: { now: () => 0, sleep: async () => {} },
    });

    expect(await patient.send(event("paid"))).toMatchObject({ messageId: "e1" });
  });

  describe("D6: EventBridge drops events for a bus that doesn't exist, and answers as if it had accepted them", () => {
    /** A client that is asked about buses, and answers what `about` says. */
    function busesOf(about: (asked: number) => void) {
      const asked: string[] = [];
      const put: string[] = [];
      const warnings: string[] = [];
      const client = {
        config: {},
        async send({ input }: { input: { Name?: string; Entries?: { DetailType: string }[] } }) {
          if (input.Name !== undefined) about(asked.push(input.Name));
          for (const { DetailType } of input.Entries ?? []) put.push(DetailType);
          return { Entries: input.Entries?.map(() => ({ EventId: "e1" })) };
        },
      };
      const onWarning = ({ message }: Error) => {
        warnings.push(message);
        throw new Error("nobody listens");
      };
      return { asked, put, warnings, producer: new MessageProducer({ eventBridge: client, onWarning }) };
    }
    const named = (name: string) => Object.assign(new Error("said AWS"), { name });

    it("nothing is sent to a bus that doesn't exist, and the unsent events are sent once it does", async () => {
      const { asked, put, producer } = busesOf((times) => {
        if (times < 3) throw named("ResourceNotFoundException");
      });

      for (const _ of [1, 2]) {
        const { failed } = await failureOf(producer.send(event("paid")));
        expect(failed).toEqual([{ id: "0", code: "ResourceNotFoundException" }]);
      }
      expect(put).toEqual([]);
      await producer.send(event("paid"));

      expect([asked, put]).toEqual([["orders", "orders", "orders"], ["paid"]]);
    });

    it("each bus is asked about once, also by events that are sent at the same time; the default bus never", async () => {
      const { asked, put, producer } = busesOf(() => {});

      await Promise.all([producer.send(event("paid")), producer.send(event("shipped"))]);
      await producer.sendBatch([
        { ...event("paid"), bus: "refunds" },
        { ...event("paid"), bus: "default" },
      ]);

      expect([asked, put.length]).toEqual([["orders", "refunds"], 4]);
    });

    it("if the query is denied, that is reported once, and the events are sent", async () => {
      const { put, warnings, producer } = busesOf(() => {
        throw named("AccessDeniedException");
      });

      for (const type of ["paid", "shipped"]) await producer.send(event(type));

      expect(put).toEqual(["paid", "shipped"]);
      expect(warnings).toEqual([expect.stringContaining("grant events:DescribeEventBus")]);
    });

    it("without `onWarning` console.warn reports it", async () => {
      const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
      const send = async ({ input }: { input: object }) => {
        if ("Name" in input) throw named("AccessDeniedException");
        return { Entries: [{ EventId: "e1" }] };
      };

      await new MessageProducer({ eventBridge: { config: {}, send } }).send(event("paid"));

      expect(warn.mock.calls).toEqual([
        [
          expect.objectContaining({
            message: expect.stringContaining("grant"),
            cause: expect.objectContaining({ name: "AccessDeniedException" }),
          }),
        ],
      ]);
      warn.mockRestore();
    });

    it.each([
      ["ThrottlingException", named("ThrottlingException")],
      ["TimeoutError", named("TimeoutError")],
      ["Error", undefined],
    ])("after %s nothing counts as sent, and it is asked again", async (code, error) => {
      const { put, producer } = busesOf((times) => {
        if (times === 1) throw error;
      });

      expect(await failureOf(producer.send(event("paid")))).toMatchObject({
        failed: [{ id: "0", code }],
      });
      await producer.send(event("paid"));

      expect(put).toEqual(["paid"]);
    });
  });

  it("reports a lost response: sent again, the event has the same key", async () => {
    eventBridge.answersToLose = 1;
    const error = await failureOf(producer.send(event("paid")));
    await producer.send(event("paid"));

    expect(error).toMatchObject({ code: "SEND_FAILED", failed: [{ id: "0", code: "TimeoutError" }] });
    expect(eventBridge.accepted[1]).toEqual(eventBridge.accepted[0]);
  });

  it.each<object>([
    { bus: "" },
    { bus: undefined },
    { bus: "shop/" },
    { source: "" },
    { source: "aws.orders" },
    { detailType: undefined },
    { detailType: "t".repeat(129) },
    { body: "text" },
    { body: [1] },
    { body: null },
    { group: "7" },
    { key: "" },
  ])("rejects anything but an event (%#)", async (change) => {
    await expect(producer.send({ ...event("paid"), ...change } as never)).rejects.toMatchObject({
      code: expect.stringMatching(/^(MESSAGE_ID|PAYLOAD)_INVALID$/),
    });
    expect(eventBridge.requests).toEqual([]);
  });
});
