// Real tracers see onceonly's requests as they see those of `client.send`. Each runs in a process of its own, since it
// changes every module that is loaded after it.
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { builtPackages } from "../kit/built-packages.ts";
import { root } from "../kit/project.ts";
import { connect, createTable } from "../kit/tables.ts";

/** `npm run install:tracers` fills it: the tracers, and a Node that is new enough for them. */
const installed = join(root, "tools/tracers/node_modules");
const installedUrl = (path: string) => pathToFileURL(join(installed, path)).href;
const node = join(installed, ".bin/node");
const isInstalled = existsSync(node);
if (!isInstalled)
  console.warn("no tracers: tests of what they see are skipped; npm run install:tracers installs them");

interface Request {
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
}

interface Compared {
  readonly requests: readonly string[];
  /** Of onceonly, and of `client.send` for the same requests. */
  readonly spans: readonly string[];
  readonly plain?: readonly string[];
}

interface Report {
  readonly results: Readonly<Record<string, Compared>>;
  /** The hosts to which the process connected, beside this machine. */
  readonly strangers: readonly string[];
}

interface Tracer {
  /** What Node has to be started with, so that the tracer sees ES modules. */
  readonly hooks: readonly string[];
  /** The span of a request that the SDK makes. */
  readonly sdk: RegExp;
  /** The span of a request that Node's client makes. */
  readonly http: RegExp;
}

const TRACERS: Readonly<Record<string, Tracer>> = {
  "open-telemetry": {
    hooks: ["--experimental-loader", installedUrl("@opentelemetry/instrumentation/hook.mjs")],
    sdk: /^DynamoDB|^orders\.fifo/,
    http: /^POST/,
  },
  "dd-trace": {
    hooks: ["--experimental-loader", installedUrl("dd-trace/loader-hook.mjs")],
    sdk: /^aws\.request/,
    http: /^http\.request/,
  },
  "new-relic": {
    hooks: ["--import", installedUrl("newrelic/esm-loader.mjs")],
    sdk: /^Datastore|^MessageBroker/,
    http: /^External/,
  },
  "x-ray": { hooks: [], sdk: /^DynamoDB|^SQS/, http: /^127\.0\.0\.1/ },
};

/** What keeps the agents from their services, beside what the fixtures set. */
const SILENCED = {
  DD_INSTRUMENTATION_TELEMETRY_ENABLED: "false",
  NEW_RELIC_APP_NAME: "test",
  NEW_RELIC_LOG_ENABLED: "false",
  NEW_RELIC_NO_CONFIG_FILE: "true",
  NEW_RELIC_SERVERLESS_MODE_ENABLED: "true",
};

let engine: string;
let tableName: string;
let onceonly: string;
let seen: Request[] = [];
const server = createServer((request, response) => void answer(request, response));

beforeAll(async () => {
  if (!isInstalled) return;
  engine = inject("dynamodbEngines")[0]!.endpoint;
  tableName = await createTable(connect(engine));
  onceonly = process.env.TR_DEV ?? join(await builtPackages(), "node_modules/onceonly");
  await once(server.listen(0, "127.0.0.1"), "listening");
}, 300_000);

afterAll(() => void server.close());

/** Hands DynamoDB's requests on to the engine, and takes messages. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [service, operation = ""] = `${request.headers["x-amz-target"]}`.split(".");
  const body = await buffer(request);
  const input = JSON.parse(`${body}`);
  seen.push({ operation, input });
  if (service === "AmazonSQS") {
    const taken = (input.Entries as readonly { Id: string; MessageBody: string }[]).map(
      ({ Id, MessageBody }) => {
        const MD5OfMessageBody = createHash("md5").update(MessageBody).digest("hex");
        return { Id, MessageId: Id, MD5OfMessageBody };
      },
    );
    response.end(JSON.stringify({ Successful: taken }));
    return;
  }
  const { "x-amz-target": target, authorization, "x-amz-date": date } = request.headers;
  const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `${target}` };
  const answer = await fetch(engine, {
    method: "POST",
    headers: { ...headers, authorization: `${authorization}`, "x-amz-date": `${date}` },
    body,
  });
  response
    .writeHead(answer.status, { "content-type": "application/x-amz-json-1.0" })
    .end(await answer.text());
}

async function reportOf(tracer: string, program: string, hooks: readonly string[]): Promise<Report> {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const fixture = (name: string) => join(import.meta.dirname, "fixtures", name);
  seen = [];
  const child = fork(fixture(program), {
    execPath: node,
    execArgv: ["--disable-warning=ExperimentalWarning", ...hooks],
    silent: true,
    env: {
      ...{ PATH: process.env.PATH, HOME: join(root, "nowhere") },
      ...{ AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local", AWS_REGION: "eu-central-1" },
      ...{ AWS_ENDPOINT_URL: url, TABLE: tableName, QUEUE: `${url}/123456789012/orders.fifo` },
      ...{ ONCEONLY: onceonly, TRACER: fixture(`${tracer}.cjs`), TRACERS: join(installed, "of.cjs") },
      ...SILENCED,
    },
  });
  const printed = Promise.all([buffer(child.stdout!), buffer(child.stderr!)]);
  let report: Report | undefined;
  child.on("message", (message: Report | "requests?") => {
    if (message === "requests?") child.send(seen.splice(0));
    else report = message;
  });
  await once(child, "exit");
  if (report) return report;
  throw new Error(`no report from ${tracer}: ${(await printed).join("\n")}`);
}

/** How many of the spans are of requests. */
const countOf = (spans: readonly string[], kind: RegExp) => spans.filter((span) => kind.test(span)).length;

describe.skipIf(!isInstalled).each(Object.entries(TRACERS))("%s", (tracer, { hooks, sdk, http }) => {
  it.for([
    ["CommonJS", "commonjs.cjs", []],
    ["ES modules", "es-modules.mjs", hooks],
  ] as const)(
    "H94: D3: sees the requests of onceonly as it sees those of client.send, in %s",
    { timeout: 120_000 },
    async ([, program, execArgv]) => {
      const { results, strangers } = await reportOf(tracer, program, execArgv);

      expect(strangers).toEqual([]);
      const run = ["PutItem", "UpdateItem", "PutItem"];
      expect(results).toMatchObject({
        "own client": { requests: run },
        "passed client": { requests: run },
        messages: { requests: ["SendMessageBatch"] },
        lean: { requests: run },
      });
      const { lean, ...overSdk } = results as Record<string, Required<Compared>>;
      for (const [name, { spans, plain, requests }] of Object.entries(overSdk)) {
        expect([name, ...spans]).toEqual([name, ...plain]);
        // X-Ray sees the SDK's requests only of the clients that it's given.
        const kind = tracer === "x-ray" && name === "own client" ? http : sdk;
        expect(countOf(spans, kind)).toBe(requests.length);
      }
      expect([countOf(lean!.spans, http), countOf(lean!.spans, sdk)]).toEqual([run.length, 0]);
    },
  );
});
