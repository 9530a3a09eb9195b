import { expect, it, vi } from "vitest";
import { httpIdempotent, idempotent, idempotentBatch } from "../../lib/index.ts";
import { keyFromS3 } from "../../lib/lambda/batch/s3-changes.ts";
import { given } from "./given.ts";
import { v2Event } from "./http/given.ts";

const { options, context } = given();
const lines: string[] = [];
let operations = 0;
/** Two wrappers of one operation would be reported as such. */
const own = () => ({ ...options, operation: `order-${++operations}` });
vi.spyOn(console, "warn").mockImplementation((line: string) => void lines.push(line));

/** What so many calls say in the log. */
async function reported(call: () => Promise<unknown>, calls = 2): Promise<string[]> {
  lines.length = 0;
  for (let made = 0; made < calls; made++) await call();
  return lines.map((line) => line.slice(0, 60));
}

const under = (key: (event: { id: string }, own: { awsRequestId: string }) => string) => {
  const handler = idempotent(async () => 1, { ...own(), key });
  return reported(() => handler({ id: "1" }, context()));
};

it("reports once a key that changes each time, also in a batch", async () => {
  let keys = 0;
  const batch = idempotentBatch(async () => {}, {
    ...own(),
    key: () => crypto.randomUUID(),
  });
  const event = { Records: [{ messageId: "m1", body: "{}", eventSource: "aws:sqs" }] };

  expect(await under(() => `order-${++keys}`)).toEqual([expect.stringContaining("is a different string")]);
  expect(await reported(() => batch(event as never, context()))).toHaveLength(1);
});

it("reports once a key that contains the id of the invocation", async () => {
  expect(await under((_, { awsRequestId }) => `order/${awsRequestId}`)).toEqual([
    expect.stringContaining("contains the awsRequestId"),
  ]);
});

it("reports a key that can only be read once, and runs", async () => {
  let reads = 0;
  const key = () => {
    if (++reads > 1) throw new Error("the stream was read");
    return "read-once";
  };
  const handler = idempotent(async () => "ran", { ...own(), key });

  lines.length = 0;
  expect(await handler({}, context())).toBe("ran");
  expect(lines).toHaveLength(1);
});

it("reports nothing for a key from the event's content, or for a missing key", async () => {
  const http = httpIdempotent(async () => ({ statusCode: 200 }), { ...own(), scope: "public" });
  const keyless = idempotent(async () => 1, { ...own(), key: () => undefined, whenKeyMissing: "run" });

  expect(await under(({ id }) => id)).toEqual([]);
  expect(await reported(() => http(v2Event({ headers: { "Idempotency-Key": '"k"' } }), context()))).toEqual(
    [],
  );
  expect(await reported(() => keyless({}, context()))).toEqual([]);
});

it("reports once a batch that is treated as one operation, and no event with one record", async () => {
  const handler = idempotent(async () => 1, { ...own(), key: ({ id }: { id: string }) => id });
  let ids = 0;
  const of = (eventSource: string, count = 2) =>
    reported(() =>
      handler({ id: `batch-${++ids}`, Records: Array(count).fill({ eventSource }) } as never, context()),
    );

  expect(await of("aws:s3")).toEqual([]);
  expect(await of("aws:kinesis", 1)).toEqual([]);
  expect(await of("aws:kinesis")).toHaveLength(1);
  expect(await of("aws:kinesis")).toEqual([]);
});

it("refuses a record of another source in the place of one of S3", () => {
  const read = () => keyFromS3()({ Records: [{ eventSource: "aws:sqs" }] } as never);

  expect(read).toThrow("isn't an S3 notification");
});
