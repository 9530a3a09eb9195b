// A consumer of any broker: what becomes of a message, by how its attempt ended.
import { PermanentError } from "onceonly";
import { type ConsumerOptions, type Delivery, envelopeHeaders, idempotentConsumer } from "onceonly/consumers";
import { MemoryStore } from "onceonly/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { gate } from "../kit/time/gate.ts";
import { watch } from "./given.ts";

interface Message {
  readonly key?: string;
  readonly text?: string;
  readonly envelope?: unknown;
  readonly position?: readonly string[];
}

const read = ({ text = "a box", position, ...rest }: Message): Delivery => ({
  name: "message 7",
  content: text,
  position,
  envelope: "envelope" in rest ? rest.envelope : envelopeHeaders({ key: "order-1" }).OnceonlyEnvelope,
});

type Options = Partial<ConsumerOptions<Message, never>>;
const options = (more: Options = {}): ConsumerOptions<Message, never> => ({
  operation: "ship-order",
  store: new MemoryStore() as never,
  onMessageError: () => {},
  ...more,
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe("idempotentConsumer", () => {
  it("reports that a message is done, now or before", async () => {
    let runs = 0;
    const consume = idempotentConsumer(() => void runs++, options(), read);

    expect([await consume({}), await consume({}), runs]).toEqual([{ end: "done" }, { end: "done" }, 1]);
  });

  it("runs one message once for each consumer, by their names", async () => {
    const given = options();
    const ran: string[] = [];
    const consumer = (operation: string) =>
      idempotentConsumer(() => void ran.push(operation), { ...given, operation }, read);
    const [ship, bill] = [consumer("ship-order"), consumer("bill-order")];

    for (const consume of [ship, bill, ship, bill]) await consume({});

    expect(ran).toEqual(["ship-order", "bill-order"]);
  });

  it("reports that a message has to come again, with the error and a pause", async () => {
    const error = new Error("the van is full");
    const consume = idempotentConsumer(() => Promise.reject(error), options({ retrySeconds: 3 }), read);

    expect(await consume({})).toEqual({ end: "retry", afterMs: 3000, error, isInProgress: false });
  });

  it("reports that a message is in progress elsewhere, which doesn't count as an error", async () => {
    const reported: unknown[] = [];
    const begun = gate();
    const mayEnd = gate();
    const given = options({ onMessageError: (error) => void reported.push(error) });
    const consume = idempotentConsumer(
      () => {
        begun.open();
        return mayEnd.opened;
      },
      given,
      read,
    );
    const first = consume({});
    await begun.opened;

    const second = await consume({});
    mayEnd.open();

    expect(second).toMatchObject({ end: "retry", isInProgress: true, afterMs: 1000 });
    expect([await first, reported]).toEqual([{ end: "done" }, []]);
  });

  it("reports that a message is final, because its error is recorded or it can't be read", async () => {
    const fail = () => {
      throw new PermanentError("no such street");
    };
    const given = options();
    const consume = idempotentConsumer(fail, given, read);

    expect(await consume({})).toMatchObject({ end: "final", error: { message: "no such street" } });
    expect(await consume({ envelope: "{" })).toMatchObject({
      end: "final",
      error: { code: "IDEMPOTENCY_KEY_INVALID" },
    });
    expect(await consume({ envelope: "" })).toMatchObject({
      end: "final",
      error: { code: "IDEMPOTENCY_KEY_INVALID" },
    });
  });

  it("lets a handler give up by the number of attempts, which the record counts", async () => {
    const consume = idempotentConsumer(
      (_, { idempotency: { attempt = 0 } }) => {
        throw attempt < 3 ? new Error("the van is full") : new PermanentError("given up");
      },
      options(),
      read,
    );

    const ends: string[] = [];
    for (let deliveries = 0; deliveries < 4; deliveries++) ends.push((await consume({})).end);

    expect(ends).toEqual(["retry", "retry", "final", "final"]);
  });

  it("treats no handler error as one about the message, whatever its code", async () => {
    const inner = { operation: "inner", store: new MemoryStore() as never, onMessageError: () => {} };
    const refuse = idempotentConsumer<Message, never>(() => {}, inner, read);
    const consume = idempotentConsumer(
      async () => {
        const ended = await refuse({ envelope: undefined });
        if (ended.end === "final") throw ended.error;
      },
      options(),
      read,
    );

    expect(await consume({})).toMatchObject({
      end: "retry",
      error: { code: "IDEMPOTENCY_KEY_MISSING" },
    });
  });

  it("parks a message with a function, and lets it come again if that fails", async () => {
    const aside: unknown[] = [];
    const reported: unknown[] = [];
    let fails = true;
    const given = options({
      whenFinalError: async (message, error) => {
        if (fails) throw new Error("the dead-letter topic is gone");
        aside.push([message, (error as Error).message]);
      },
      onMessageError: (error) => void reported.push((error as Error).message),
    });
    const fail = () => {
      throw new PermanentError("no such street");
    };
    const consume = idempotentConsumer(fail, given, read);
    const message = { text: "a box" };

    expect(await consume(message)).toMatchObject({ end: "retry", isInProgress: false });
    fails = false;
    expect(await consume(message)).toEqual({ end: "done" });

    expect(aside).toEqual([[message, "no such street"]]);
    expect(reported).toEqual(["no such street", "the dead-letter topic is gone", "no such street"]);
  });

  it("holds a message of unknown outcome back for a minute", async () => {
    const given = options({ whenAbandoned: "hold" });
    const { OutcomeUnknownError } = await import("onceonly");
    const fail = () => {
      throw new OutcomeUnknownError();
    };
    const consume = idempotentConsumer(fail, given, read);
    await consume({});

    expect(await consume({})).toMatchObject({
      end: "retry",
      afterMs: 60_000,
      error: { code: "OUTCOME_UNKNOWN" },
    });
  });

  it("uses only `key` if it is given, and rejects a message for which it yields none", async () => {
    const { observe, decisions } = watch();
    const given = options({ key: ({ key }) => key, observe });
    const consume = idempotentConsumer(() => {}, given, read);

    const ends = [await consume({ key: "a", envelope: "{" }), await consume({ key: "a" }), await consume({})];

    expect(ends.map(({ end }) => end)).toEqual(["done", "done", "final"]);
    expect(decisions).toEqual(["executed", "replayed", "key-missing"]);
  });

  it("uses no position as a key unless configured, nor the position of a broker that has none", async () => {
    const message = { envelope: undefined, position: ["orders", "7"] };
    const ended = async (more: Options, { position, ...given }: Message = message) =>
      (await idempotentConsumer(() => {}, options(more), read)({ ...given, ...(position && { position }) }))
        .end;

    expect(await ended({})).toBe("final");
    expect(await ended({ whenKeyMissing: "position" })).toBe("done");
    expect(await ended({ whenKeyMissing: "position" }, { envelope: undefined })).toBe("final");
    expect(await ended({ whenKeyMissing: "position" }, { ...message, envelope: "{" })).toBe("final");
  });

  it("keeps scopes apart, and rejects a message without the required scope", async () => {
    let runs = 0;
    const given = options({ scope: ({ text }) => text, fingerprint: () => "same" });
    const consume = idempotentConsumer(() => void runs++, given, read);

    await consume({ text: "acme" });
    await consume({ text: "emca" });
    const refused = await consume({ text: "" });

    expect(runs).toBe(2);
    expect(refused).toMatchObject({ end: "final", error: { code: "SCOPE_MISSING" } });
  });

  it("never rejects: a message that can't be read, or a reader that throws, comes again and is reported", async () => {
    const lines: unknown[][] = [];
    vi.spyOn(console, "error").mockImplementation((...given) => void lines.push(given));
    const given = options({ onMessageError: undefined as never });
    const consume = idempotentConsumer(
      () => {},
      {
        ...given,
        key: () => {
          throw new Error("unreadable");
        },
      },
      read,
    );

    expect([await consume({}), await consume(null as never)]).toMatchObject([
      { end: "retry" },
      { end: "retry" },
    ]);
    expect(lines.map(([line]) => line)).toEqual([
      'onceonly: message 7 failed (operation "ship-order"):',
      'onceonly: a message failed (operation "ship-order"):',
    ]);
  });

  it("continues if `onMessageError` throws", async () => {
    const given = options({
      onMessageError: () => {
        throw new Error("no log");
      },
    });

    expect((await idempotentConsumer(() => {}, given, read)({ envelope: undefined })).end).toBe("final");
  });

  it.each([
    ["no handler", () => idempotentConsumer(undefined as never, options(), read), "`handler` must"],
    ["a callback", () => idempotentConsumer((_a, _b, _c?: never) => {}, options(), read), "`handler` must"],
    ["no reader", () => idempotentConsumer(() => {}, options(), undefined as never), "`read` must"],
    ["no store", () => idempotentConsumer(() => {}, options({ store: undefined as never }), read), "`store`"],
    [
      "an unknown option",
      () => idempotentConsumer(() => {}, options({ retries: 3 } as never), read),
      "retries",
    ],
    [
      "a wrong unit",
      () => idempotentConsumer(() => {}, options({ retrySeconds: 60_000 }), read),
      "`retrySeconds` must be a number of seconds",
    ],
    [
      "a scope that is not there",
      () => idempotentConsumer(() => {}, options({ scope: undefined as never }), read),
      "`scope` must",
    ],
    [
      "a lease to renew in the optimistic mode",
      () => idempotentConsumer(() => {}, options({ mode: "optimistic", renewLease: true }), read),
      "renewLease",
    ],
  ])("checks %s immediately", (_what, make, why) => {
    expect(make).toThrow(why);
  });
});

describe("envelopeHeaders", () => {
  it("carries key and trace in ASCII, and the key survives", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const { OnceonlyEnvelope: envelope } = envelopeHeaders({ key: "bestellung-ä-✓", traceparent });
    const seen: unknown[] = [];
    const note = (_: Message, { idempotency }: { idempotency: { key: string; traceparent?: unknown } }) =>
      void seen.push(idempotency.key, idempotency.traceparent);
    const consume = idempotentConsumer(note as never, options(), read);

    await consume({ envelope: Buffer.from(envelope) });

    expect(envelope).toMatch(/^[\x20-\x7e]+$/);
    expect(seen).toEqual(["bestellung-ä-✓", traceparent]);
  });

  it.each([[undefined], [{}], [{ key: "" }], [{ key: 7 }], [{ key: "x".repeat(256) }]])(
    "refuses %j",
    (given) => {
      expect(() => envelopeHeaders(given as never)).toThrow("the envelope: the key");
    },
  );
});
