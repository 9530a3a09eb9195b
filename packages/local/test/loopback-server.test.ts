// DNS rebinding: a page of the web points a name of its own at 127.0.0.1, and asks what listens on this machine.
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startMiddleman } from "../../../test/kit/faults/middleman.ts";
import { startFaultProxy } from "../lib/fault-proxy.ts";
import { startRuntimeApi } from "../lib/lambda/runtime-api.ts";
import { createLoopbackServer } from "../lib/loopback-server.ts";
import { startSqs } from "../lib/sqs/start-sqs.ts";
import { startGateway } from "../lib/stack/gateway/gateway.ts";
import { httpKind } from "../lib/stack/gateway/http-kind.ts";

const FOREIGN = [
  "attacker.example",
  "attacker.example:80",
  "127.0.0.1.attacker.example",
  "192.0.2.1",
  "0.0.0.0",
  "[::]",
  "localhost.attacker.example",
  "127.0.0.1@attacker.example",
  "notlocalhost",
];
const OWN = [
  "127.0.0.1",
  "127.0.0.1:8080",
  "localhost",
  "LOCALHOST:1",
  "api.localhost:3000",
  "localhost.",
  "[::1]:80",
  "127.1.2.3",
];

/** The status of a request whose Host header says `host`. */
const ask = (port: number, host: string, path = "/") =>
  new Promise<number | undefined>((resolve, reject) => {
    request({ host: "127.0.0.1", port, path, method: "POST", headers: { host } }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode));
    })
      .once("error", reject)
      .end("{}");
  });

describe("createLoopbackServer", () => {
  const served: (string | undefined)[] = [];
  const server = createLoopbackServer((incoming, response) => {
    served.push(incoming.headers.host);
    response.end();
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it("serves requests for this machine only", async () => {
    const { port } = server.address() as AddressInfo;

    for (const host of OWN) expect([host, await ask(port, host)]).toEqual([host, 200]);
    for (const host of FOREIGN) expect([host, await ask(port, host)]).toEqual([host, 421]);
    expect(served).toEqual(OWN);
  });
});

describe("each of our servers", () => {
  const stops: (() => unknown)[] = [];
  afterAll(() => Promise.all(stops.map((stop) => stop())));

  const NO_EVENTS = { onNext() {}, onResponse() {}, onError() {}, onInitError() {} };
  const SERVERS: readonly (readonly [string, () => Promise<string>])[] = [
    [
      "the SQS model",
      async () => {
        const { endpoint, stop } = await startSqs();
        stops.push(stop);
        return endpoint;
      },
    ],
    [
      "the fault proxy",
      async () => {
        const { endpoint, stop } = await startFaultProxy({
          target: "http://127.0.0.1:1",
          decide: () => "throttle",
        });
        stops.push(stop);
        return endpoint;
      },
    ],
    [
      "the runtime API",
      async () => {
        const { address, close } = await startRuntimeApi(NO_EVENTS);
        stops.push(close);
        return `http://${address}`;
      },
    ],
    [
      "the HTTP API",
      async () => {
        const api = await startGateway({
          kind: httpKind,
          apiId: "api-id",
          accountId: "123456789012",
          region: "us-east-1",
          cors: undefined,
          port: 0,
          now: Date.now,
          log: () => {},
        });
        stops.push(() => api.close());
        return api.url;
      },
    ],
    [
      "the demo's middleman",
      async () => {
        const { endpoint, stop } = await startMiddleman(async () => ({ status: 200, body: "" }));
        stops.push(stop);
        return endpoint;
      },
    ],
  ];

  it.each(SERVERS)("refuses a host that is not this machine: %s", async (_, start) => {
    const port = Number(new URL(await start()).port);

    expect(await ask(port, "attacker.example", "/orders")).toBe(421);
    expect(await ask(port, `127.0.0.1:${port}`, "/orders")).not.toBe(421);
  });
});
