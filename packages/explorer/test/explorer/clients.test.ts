// Handlers in the shapes of public samples, with the clients that people use. Each is judged rightly, or refused with the
// reason. None reaches a real server.
import childProcess, { execFile } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import tls from "node:tls";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { KinesisClient, PutRecordCommand } from "@aws-sdk/client-kinesis";
import { GetObjectTaggingCommand, S3Client } from "@aws-sdk/client-s3";
import { DescribeParametersCommand, SSMClient } from "@aws-sdk/client-ssm";
import axios from "axios";
import got from "got";
import { type Execution, idempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { explore, removePatches } from "onceonly-explorer";
import pg from "pg";
import Stripe from "stripe";
import * as undici from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

interface Order {
  readonly orderId: string;
}

let hits = 0;
const server = http.createServer((request, response) => {
  hits++;
  request.resume().on("end", () => response.end("{}"));
});
let port: number;
let origin: string;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
  origin = `http://127.0.0.1:${port}`;
});

afterAll(async () => {
  await removePatches();
  server.close();
  expect(hits).toBe(0);
});

// As modules of handlers make them.
const stripe = new Stripe("sk_test_1");
const agent = new http.Agent({ keepAlive: true });
const payments = axios.create({ httpAgent: agent, timeout: 3000 });
const api = got.extend({ retry: { limit: 0 }, timeout: { request: 3000 } });
const pool = () => new pg.Pool({ host: "127.0.0.1", port, user: "shop", connectionTimeoutMillis: 1000 });
const ssm = new SSMClient();
const s3 = new S3Client();
const kinesis = new KinesisClient();

type Headers = Record<string, string>;

/** Charges with a header or without. */
const CHARGES: readonly [string, (headers: Headers) => Promise<unknown>][] = [
  ["fetch", (headers) => fetch(`${origin}/charges`, { method: "POST", headers })],
  ["axios", (headers) => axios.post(`${origin}/charges`, { cents: 500 }, { headers })],
  [
    "axios with an agent and a timeout",
    (headers) => payments.post(`${origin}/charges`, { cents: 500 }, { headers }),
  ],
  ["got", (headers) => got.post(`${origin}/charges`, { json: { cents: 500 }, headers }).json()],
  ["got with options", (headers) => api.post(`${origin}/charges`, { json: { cents: 500 }, headers }).json()],
  [
    "node:http",
    async (headers) => {
      const request = http.request(`${origin}/charges`, { method: "POST", headers }).end("{}");
      const [response] = (await once(request, "response")) as [http.IncomingMessage];
      return text(response);
    },
  ],
  [
    "Stripe's SDK",
    (headers) => {
      const idempotencyKey = headers["idempotency-key"];
      return stripe.charges.create(
        { amount: 500, currency: "eur" },
        idempotencyKey ? { idempotencyKey } : {},
      );
    },
  ],
];

const given = {
  operation: "charge-order",
  store: new DynamoDBStore({ tableName: "idempotency" }),
  key: ({ orderId }: Order) => orderId,
};

function explored(work: (order: Order, execution: Execution) => Promise<unknown>) {
  const handler = idempotent(async (order: Order, { idempotency }) => {
    await work(order, idempotency as Execution);
    return { charged: true };
  }, given);
  const charge = () => Response.json({ id: "charge-1" });
  return explore(
    handler,
    { orderId: "order-1" },
    {
      name: "charge-order",
      idempotencyTable: "idempotency",
      outside: { [origin]: charge, "https://api.stripe.com": charge },
      timeoutSeconds: 6,
      only: "2 crash-after",
    },
  );
}

describe.each(CHARGES)("a charge with %s", (name, charge) => {
  it("is charged once under its key", async () => {
    const report = await explored((_, { childKey }) => charge({ "idempotency-key": childKey("charge") }));

    expect(report.points.map(({ label }) => label)).toContainEqual(
      expect.stringMatching(/^http POST .*\/charges$/),
    );
    expect(report.findings).toEqual([]);
  });

  // Stripe's own SDK makes a key for each request, which another attempt does not know.
  it("is charged twice without a key, which the report shows", async () => {
    const report = await explored(() => charge({}));

    expect(report.findings.map(({ kind }) => kind)).toContain("happens-twice");
    expect(name).not.toBe("");
  });
});

describe("H78: a handler whose requests the simulation can't see", () => {
  it.each<[string, string, () => Promise<unknown>]>([
    ["undici", "127.0.0.1", () => undici.request(`${origin}/charges`, { method: "POST" })],
    [
      "an agent of undici",
      "127.0.0.1",
      () => new undici.Agent().request({ origin, path: "/", method: "POST" }),
    ],
    ["pg", "127.0.0.1", () => pool().query("insert into charges values (1)")],
    [
      "pg, whose error it swallows",
      "127.0.0.1",
      () =>
        pool()
          .query("insert into audit values (1)")
          .catch(() => 0),
    ],
    [
      "got, whose error it swallows",
      "https://log.example",
      () => got.post("https://log.example/a").catch(() => 0),
    ],
    [
      "fetch, whose error it swallows",
      "https://log.example",
      () => fetch("https://log.example/a").catch(() => 0),
    ],
    ["TLS", "127.0.0.1", () => once(tls.connect(port, "127.0.0.1"), "secureConnect")],
    ["HTTP/2", "127.0.0.1", () => once(http2.connect(origin), "connect")],
    ["a process", "/opt/bin/ffmpeg", () => promisify(execFile)("/opt/bin/ffmpeg")],
    ["a process that it waits for", "curl example", async () => childProcess.execSync("curl example")],
    [
      "a process, whose error it swallows",
      "/opt/bin/ffmpeg",
      async () => {
        try {
          childProcess.spawn("/opt/bin/ffmpeg");
        } catch {}
      },
    ],
    ["a worker thread", "a worker thread", async () => new Worker("", { eval: true })],
    ["SSM, of another operation", "ssm.us-east-1", () => ssm.send(new DescribeParametersCommand())],
    [
      "S3, of an operation that is not simulated",
      "s3.us-east-1",
      () => s3.send(new GetObjectTaggingCommand({ Bucket: "shop", Key: "prices.json" })),
    ],
  ])("is refused with the reason: %s", async (_, address, work) => {
    const refused = explored(work);

    await expect(refused).rejects.toThrow(/^charge-order makes a request that the simulation can't answer/);
    await expect(refused).rejects.toThrow(address);
  });
});

describe("43.5: outside of a simulation", () => {
  it("processes and worker threads start as ever", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--version"]);
    const [code] = await once(new Worker("", { eval: true }), "exit");

    expect([stdout.trim(), code]).toEqual([process.version, 0]);
  });
});

describe("43.5: a stand-in", () => {
  it("answers the SDK's Kinesis client, whose requests go over HTTP/2", async () => {
    const put = async () => {
      await kinesis.send(
        new PutRecordCommand({ StreamName: "clicks", PartitionKey: "a", Data: Buffer.from("b") }),
      );
      return { statusCode: 200 };
    };

    const report = await explore(
      put,
      { clicked: true },
      {
        timeoutSeconds: 6,
        outside: { "https://kinesis.us-east-1.amazonaws.com": () => Response.json({ SequenceNumber: "1" }) },
        only: "duplicate-afterwards",
      },
    );

    expect(report.findings.map(({ what }) => what)).toEqual([
      "2 calls of PutRecord https://kinesis.us-east-1.amazonaws.com/ instead of 1",
    ]);
  });

  it("that refuses a call by its status has done nothing", async () => {
    const names = new Set<string>();
    const create = async ({ name }: { readonly name: string }) => {
      const { status } = await fetch(`${origin}/schedules/${name}`, { method: "POST" });
      if (status !== 201 && status !== 409) throw new Error(`${status}`);
    };

    const report = await explore(
      create,
      { name: "daily" },
      {
        timeoutSeconds: 6,
        setUp: () => names.clear(),
        outside: {
          [origin]: ({ url }) => {
            const status = names.has(url) ? 409 : 201;
            names.add(url);
            return new Response(null, { status });
          },
        },
      },
    );

    expect(report.findings).toEqual([]);
  });
});
