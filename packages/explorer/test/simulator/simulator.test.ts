import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { S3 } from "@aws-sdk/client-s3";
import { describe, expect, it, vi } from "vitest";
import { Simulator } from "../../lib/simulator/simulator.ts";
import { dynamodb, effect, givenAws, rowsOf } from "./given.ts";

const HOUR = 3_600_000;

describe("run", () => {
  it("uses no real time for virtual hours, and returns the work's result", async () => {
    const aws = new Simulator({ startAt: 1_000_000 });
    const began = performance.now();
    const seen = await aws.run(async () => {
      await aws.clock.sleep(5 * HOUR);
      await new Promise((resolve) => setTimeout(resolve, HOUR));
      return [Date.now(), Date.parse(new Date().toISOString()), aws.clock.now()];
    });
    expect(seen).toEqual([1_000_000 + 6 * HOUR, 1_000_000 + 6 * HOUR, 1_000_000 + 6 * HOUR]);
    expect(performance.now() - began).toBeLessThan(HOUR / 10);
    await expect(aws.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  it("fails work that is waiting for something other than the clock", async () => {
    const aws = new Simulator();
    await expect(aws.run(() => new Promise(() => undefined))).rejects.toThrow("other than the clock");
  });

  it("fails work that never ends while a schedule goes on", async () => {
    const aws = new Simulator({ maxDays: 0.01 });
    aws.every(
      60_000,
      aws.lambda(() => "tick"),
    );
    await expect(aws.run(() => new Promise(() => undefined))).rejects.toThrow("0.01 simulated days");
  });

  it("refuses to be nested, and invocations outside of it", async () => {
    const aws = new Simulator();
    const fn = aws.lambda(() => "done");
    await expect(fn.invoke({})).rejects.toThrow("inside run(async () =>");
    await expect(aws.run(() => aws.run(() => 1))).rejects.toThrow("is already running");
  });

  it("lends a region and credentials to clients that have none, and takes them back", async () => {
    const before = { ...process.env };
    const aws = new Simulator();
    const region = await aws.run(() => process.env.AWS_REGION);
    expect(region).toBeTruthy();
    expect({ ...process.env }).toEqual(before);
  });

  it("hides the real credentials from its functions, so no client can use them elsewhere", async () => {
    const real = { AWS_ACCESS_KEY_ID: "AKIAREAL", AWS_SECRET_ACCESS_KEY: "real", AWS_SESSION_TOKEN: "real" };
    for (const [name, value] of Object.entries(real)) vi.stubEnv(name, value);
    const seen = await new Simulator().run(() => ({ ...process.env }));
    for (const name of Object.keys(real)) expect([undefined, "simulated"]).toContain(seen[name]);
    expect(process.env).toMatchObject(real);
    vi.unstubAllEnvs();
  });

  it("hides a profile, which the SDK would prefer to credentials", async () => {
    vi.stubEnv("AWS_PROFILE", "somebody");
    const aws = givenAws();
    const client = new DynamoDBClient();
    const Key = { id: { S: "a" } };
    const fn = aws.lambda(() => client.send(new GetItemCommand({ TableName: "effects", Key })));
    expect((await aws.run(() => fn.invoke({}))).outcome).toBe("returned");
    expect(process.env.AWS_PROFILE).toBe("somebody");
    vi.unstubAllEnvs();
  });

  it("runs next to another simulator's run, each as it would by itself", async () => {
    const traceOf = async (seed: number) => {
      const aws = givenAws({ seed });
      const fn = aws.lambda(() => effect("one"), { skewMs: seed });
      await aws.run(() => Promise.all([fn.invoke({}), fn.invoke({}), fn.invoke({})]));
      return aws.traceText();
    };
    const together = await Promise.all([traceOf(1), traceOf(2)]);
    expect(together).toEqual([await traceOf(1), await traceOf(2)]);
  });

  it("is required for the clock to advance: outside of it nothing that is due would run", async () => {
    const aws = new Simulator({ startAt: 0 });
    await aws.clock.advance(1000);
    await aws.run(() => aws.clock.advance(1000));
    expect(aws.clock.now()).toBe(2000);
    await expect(aws.clock.run(Promise.resolve(1))).rejects.toThrow("the simulator's run");
    void aws.clock.sleep(10);
    await expect(aws.clock.advance(1000)).rejects.toThrow("inside run");
  });

  it("reports what is wrong with a table or a queue", async () => {
    const aws = new Simulator();
    expect(() => aws.table("x", { partitionKey: "id" })).toThrow("must be 3 to 255 characters long");
    aws.queue("orders.fifo", { fifo: false });
    await expect(aws.run(() => 1)).rejects.toThrow("alphanumeric");
  });

  it("can continue with a second run from where the first one stopped", async () => {
    const aws = givenAws();
    const fn = aws.lambda(() => effect("late"));
    const first = await aws.run(() => {
      void fn.invoke({});
      return aws.clock.now();
    });
    await aws.run(() => aws.clock.sleep(1000));
    expect(await rowsOf(aws, "effects")).toHaveLength(1);
    expect(aws.clock.now()).toBe(first + 1000);
  });
});

describe("serve", () => {
  it("passes bodies on unchanged, bytes of any kind", async () => {
    const aws = new Simulator();
    aws.serve("https://files.example.com", async (request) => new Response(await request.arrayBuffer()));
    const fn = aws.lambda(async () => {
      const body = new Uint8Array([1, 255, 254, 0]);
      const response = await fetch("https://files.example.com/a", { method: "PUT", body });
      return [...new Uint8Array(await response.arrayBuffer())];
    });
    expect(await aws.run(() => fn.invoke({}))).toMatchObject({ value: [1, 255, 254, 0] });
  });
});

describe("clients of the AWS SDK", () => {
  it("reach the model in the work of run too, without latency and without a trace", async () => {
    const aws = givenAws();
    const Key = { id: { S: "a" } };
    await aws.run(async () => {
      await effect("seen");
      const { Item } = await dynamodb.send(new GetItemCommand({ TableName: "effects", Key }));
      expect(Item).toBeUndefined();
    });
    expect(await rowsOf(aws, "effects")).toHaveLength(1);
    expect(aws.trace).toEqual([]);
  });

  it("get the list of available services", async () => {
    const aws = new Simulator();
    const elsewhere = new S3({ endpoint: "https://sts.us-east-1.amazonaws.com", forcePathStyle: true });
    const fn = aws.lambda(() => elsewhere.restoreObject({ Bucket: "parts", Key: "a" }));
    const invocation = await aws.run(() => fn.invoke({}));
    expect(invocation.outcome === "threw" && String(invocation.error)).toMatch(
      /has DynamoDB, .*S3, SES and Lambda's durable executions, but nothing for sts\..*outside: \{.*serve\(/,
    );
  });
});
