import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { LeanDynamoDB } from "../../lib/lean/lean-dynamodb.ts";
import { timeless } from "../kit/time/timeless.ts";
import { canned, clientOf, GET, rawServer, refuse, succeed } from "./world.ts";

describe("LeanDynamoDB", () => {
  it("sends requests as DynamoDB expects them, and reports its time", async () => {
    const { url, asked } = await canned((response) => {
      response.setHeader("date", "Sun, 22 Nov 2026 21:00:00 GMT");
      succeed(response, { Item: { pk: { S: "1" }, bytes: { B: "AQI=" } } });
    });

    const answer = await clientOf(url).send("GetItem", GET);

    expect(answer.Item).toEqual({ pk: { S: "1" }, bytes: { B: new Uint8Array([1, 2]) } });
    expect(answer.serverTimeMs).toBe(Date.UTC(2026, 10, 22, 21));
    expect(JSON.parse(asked[0]!.body)).toEqual(GET);
    expect(asked[0]!.headers).toMatchObject({
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": "DynamoDB_20120810.GetItem",
      "amz-sdk-request": "attempt=1; max=4",
      authorization: expect.stringContaining("Credential=AKIDEXAMPLE/"),
    });
  });

  it("keeps its connections, and shares a few of them among 64 callers", async () => {
    const { url, asked } = await canned((response) => succeed(response));
    const client = clientOf(url, { maxSockets: 8 });

    await Promise.all(Array.from({ length: 64 }, () => client.send("GetItem", GET)));
    await client.send("GetItem", GET);

    expect(asked).toHaveLength(65);
    expect(new Set(asked.map(({ socket }) => socket)).size).toBeLessThanOrEqual(8);
  });

  it("reads answers of many megabytes, which come in pieces", async () => {
    const Items = Array.from({ length: 40 }, (_, n) => ({ pk: { S: `${n}é`.padEnd(100_000, "€") } }));
    const { url } = await canned((response) => succeed(response, { Items }));

    const answer = await clientOf(url).send("Query", { TableName: "orders" });

    expect(answer.Items).toEqual(Items);
  });

  it("reaches an endpoint of IPv6, and one with a path", async () => {
    const { url, asked } = await canned((response) => succeed(response), "::1");

    await clientOf(`${url}/a/proxy`).send("GetItem", GET);

    expect(asked[0]!.headers.host).toBe(new URL(url).host);
  });

  describe("tries again", () => {
    it.each([
      ["ProvisionedThroughputExceededException", 400],
      ["ThrottlingException", 400],
      ["RequestLimitExceeded", 400],
      ["TransactionInProgressException", 400],
      ["InternalServerError", 500],
      ["UnknownError", 503],
    ])("after %s", async (name, statusCode) => {
      const { url, asked } = await canned((response, { number }) =>
        number < 3 ? refuse(response, name, statusCode) : succeed(response),
      );

      await clientOf(url).send("PutItem", { TableName: "orders", Item: {} });

      expect(asked.map(({ headers }) => headers["amz-sdk-request"])).toEqual([
        "attempt=1; max=4",
        "attempt=2; max=4",
        "attempt=3; max=4",
      ]);
    });

    it.each([
      ["a connection that breaks before the answer", (socket: { destroy(): void }) => socket.destroy()],
      [
        "an answer that ends too early",
        (socket: { end(text: string): void }) =>
          socket.end("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{}"),
      ],
      [
        "what is not HTTP",
        (socket: { end(text: string): void }) => socket.end("220 mail.example.com ESMTP\r\n"),
      ],
    ])("after %s, and reports it", async (_, breakOff) => {
      let connections = 0;
      const url = await rawServer((socket) => {
        connections++;
        socket.once("data", () => breakOff(socket));
      });

      const sending = clientOf(url, { maxAttempts: 3 }).send("GetItem", GET);

      await expect(sending).rejects.toMatchObject({ name: "TimeoutError", $metadata: { attempts: 3 } });
      expect(connections).toBe(3);
    });

    it("after a page of a proxy, without repeating its content", async () => {
      const { url, asked } = await canned((response) => response.end("<html>who are you?</html>"));

      const sending = clientOf(url).send("GetItem", GET);

      await expect(sending).rejects.toMatchObject({ $metadata: { attempts: 4, httpStatusCode: 200 } });
      await expect(sending).rejects.not.toThrow(/who are you/);
      expect(asked).toHaveLength(4);
    });

    it("after an answer whose checksum is wrong", async () => {
      const { url, asked } = await canned((response, { number }) => {
        response.setHeader("x-amz-crc32", number === 1 ? "1" : "2745614147");
        succeed(response);
      });

      await clientOf(url).send("GetItem", GET);

      expect(asked).toHaveLength(2);
    });

    it("with waits that double, at random, and longer ones if it was throttled", async () => {
      const { url } = await canned((response, { number }) =>
        refuse(
          response,
          number <= 4 ? "InternalServerError" : "ThrottlingException",
          number <= 4 ? 500 : 400,
        ),
      );
      const clock = timeless();
      const random = { token: () => "", fraction: () => 0.999 };
      const client = clientOf(url, { clock, random });

      for (let calls = 0; calls < 2; calls++) await client.send("GetItem", GET).catch(() => undefined);

      expect(clock.slept).toEqual([24, 49, 99, 999, 1998, 3996]);
    });

    it("D7: when the service asks for it, up to 5 seconds more than its own wait", async () => {
      const hints: Record<string, string>[] = [
        { "x-amz-retry-after": "70" },
        { "retry-after": "2" },
        { "retry-after": "3600" },
        {},
      ];
      const { url } = await canned((response, { number }) =>
        refuse(response.setHeaders(new Headers(hints[number - 1])), "InternalServerError", 500),
      );
      const clock = timeless();
      const random = { token: () => "", fraction: () => 0 };

      await clientOf(url, { clock, random })
        .send("GetItem", GET)
        .catch(() => undefined);

      expect(clock.slept).toEqual([70, 2000, 5000]);
    });

    it("D7: after a replicated write conflict, and an error that is named by its code", async () => {
      const { url, asked } = await canned((response, { number }) => {
        if (number === 1) refuse(response, "ReplicatedWriteConflictException");
        else if (number === 2) response.writeHead(400).end('{"code":"ThrottlingException"}');
        else succeed(response);
      });

      await clientOf(url).send("GetItem", GET);

      expect(asked).toHaveLength(3);
    });

    it("only as long as there are tokens for it, which responses give back", async () => {
      let isBroken = true;
      const { url, asked } = await canned((response) =>
        isBroken ? refuse(response, "InternalServerError", 500) : succeed(response),
      );
      const client = clientOf(url);
      const call = () => client.send("GetItem", GET).catch(() => undefined);

      for (let calls = 0; calls < 20; calls++) await call();
      // 500 tokens are enough for 35 retries of 14.
      expect(asked).toHaveLength(20 + 35);

      isBroken = false;
      for (let calls = 0; calls < 14; calls++) await call();
      isBroken = true;
      asked.length = 0;
      await call();
      expect(asked).toHaveLength(2);
    });
  });

  it.each([
    ["ConditionalCheckFailedException", 400],
    ["ValidationException", 400],
    ["AccessDeniedException", 400],
    ["TransactionConflictException", 400],
    ["NotImplemented", 501],
  ])("does not try again after %s", async (name, statusCode) => {
    const { url, asked } = await canned((response) => refuse(response, name, statusCode));

    const sending = clientOf(url).send("GetItem", GET);

    await expect(sending).rejects.toMatchObject({
      name,
      message: "no",
      $metadata: { httpStatusCode: statusCode, attempts: 1 },
    });
    expect(asked).toHaveLength(1);
  });

  describe("gives up", () => {
    it("a try without an answer in time, and half an answer too", async () => {
      const { url, asked } = await canned((response, { number }) => {
        if (number === 1) response.writeHead(200, { "content-length": "100" }).write("{");
      });

      const sending = clientOf(url, { requestTimeoutMs: 40, maxAttempts: 2 }).send("GetItem", GET);

      await expect(sending).rejects.toMatchObject({
        name: "TimeoutError",
        code: "ETIMEDOUT",
        message: "no response within 40 ms",
        $metadata: { attempts: 2 },
      });
      expect(asked).toHaveLength(2);
    });

    it("a host that accepts and then stays silent, within the time for connections", async () => {
      const url = await rawServer(() => undefined);
      const client = clientOf(url.replace("http:", "https:"), { connectionTimeoutMs: 40, maxAttempts: 1 });

      await expect(client.send("GetItem", GET)).rejects.toMatchObject({
        name: "TimeoutError",
        code: "ETIMEDOUT",
        message: "no connection within 40 ms",
      });
    });

    it("a port on which nothing listens", async () => {
      const { url } = await canned((response) => response.destroy());
      const client = clientOf(url.replace(/:\d+$/, ":1"), { maxAttempts: 2 });

      await expect(client.send("GetItem", GET)).rejects.toMatchObject({
        code: "ECONNREFUSED",
        $metadata: { attempts: 2 },
      });
    });
  });

  describe("after a freeze", () => {
    it("replaces connections that the service has closed immediately, and waits for nothing", async () => {
      const { url, asked } = await canned((response, { number, socket }) => {
        succeed(response);
        // What was kept breaks as soon as it is used again.
        if (number <= 3) socket.once("data", () => socket.resetAndDestroy());
      });
      const clock = timeless();
      const client = clientOf(url, { clock });
      await Promise.all([1, 2, 3].map(() => client.send("GetItem", GET)));

      const answer = client.send("GetItem", GET);

      await expect(answer).resolves.toBeDefined();
      expect(asked).toHaveLength(5);
      expect(asked[4]!.headers["amz-sdk-request"]).toBe("attempt=2; max=4");
      expect(clock.slept).toEqual([]);
    });

    it("accepts the response that came in between, though its time is over", async () => {
      const client = clientOf(await serverOnItsOwn(), { requestTimeoutMs: 80, maxAttempts: 1 });
      await client.send("Query", { TableName: "orders" });

      const answer = client.send("Query", { TableName: "orders" });
      await new Promise((resolve) => setImmediate(resolve));
      freeze(200);

      await expect(answer).resolves.toMatchObject({ Count: 1 });
    });
  });

  it("refuses wrong options by name", () => {
    for (const [options, name] of [
      [{ region: "" }, "region"],
      [{ maxAttempts: 0 }, "maxAttempts"],
      [{ requestTimeoutMs: 0.5 }, "requestTimeoutMs"],
      [{ credentials: { accessKeyId: "AKIDEXAMPLE" } }, "credentials"],
      [{ retries: 3 }, "retries"],
    ] as const) {
      expect(() => new LeanDynamoDB(options as object)).toThrow(`\`${name}\``);
    }
  });
});

/** Answers each request after some milliseconds, whatever this thread does. */
async function serverOnItsOwn(): Promise<string> {
  const source = `
    const { parentPort } = require("node:worker_threads");
    const server = require("node:http").createServer((request, response) => {
      request.resume().once("end", () => setTimeout(() => response.end('{"Count":1}'), 20));
    });
    server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`;
  const worker = new Worker(source, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = (await once(worker, "message")) as [number];
  return `http://127.0.0.1:${port}`;
}

/** Nothing of this thread runs. */
function freeze(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
