// The hosts to which requests go, and the Regions for which they are signed, with the SDK's own clients.
import { createHash } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parseAddress } from "../../lib/core/messages/address.ts";
import type { StoredMessage } from "../../lib/core/messages/outgoing-message.ts";
import { RegionalClients } from "../../lib/messaging/clients.ts";
import { connect } from "../../lib/messaging/connections.ts";
import { deliver } from "../../lib/messaging/deliver.ts";
import { FifoProducer } from "../../lib/messaging/fifo-producer.ts";
import { MessageProducer } from "../../lib/messaging/message-producer.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { failureOf } from "./given.ts";

const PATH = "/123456789012/payments.fifo";
const credentials = { accessKeyId: "AKIDOFTHETEST", secretAccessKey: "local", sessionToken: "the-token" };
const paid = { key: "order-7/paid", group: "order-7", body: "paid" };
const rules = { maxTries: 1, clock: fakeClock(), random: { token: () => "token", fraction: () => 1 } };

const MD5OfMessageBody = createHash("md5").update(paid.body).digest("hex");
const SENT = { Successful: [{ Id: "0", MessageId: "m", MD5OfMessageBody }] };

/** The Region of a request's signature. */
const signedFor = (headers: Readonly<Record<string, unknown>>) =>
  /Credential=\w+\/\d+\/([\w-]+)\//.exec(String(headers.authorization))?.[1];

/** A server on this machine that is not asked for. */
async function startServer() {
  const requests: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    requests.push(request.headers);
    response.end(JSON.stringify(SENT));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    requests,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let evil: Awaited<ReturnType<typeof startServer>>;
let engine: Awaited<ReturnType<typeof startServer>>;

beforeEach(async () => {
  evil = await startServer();
  engine = await startServer();
  vi.stubEnv("AWS_REGION", "eu-central-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", credentials.secretAccessKey);
  vi.stubEnv("AWS_SESSION_TOKEN", credentials.sessionToken);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all([evil.stop(), engine.stop()]);
});

describe("a client that is given", () => {
  it("H75: does not follow a message to another host than its endpoint", async () => {
    const sqs = new SQSClient({ region: "eu-central-1", credentials, endpoint: engine.origin });
    const ofEnvironment = new SQSClient({ region: "eu-central-1", credentials });

    await new MessageProducer({ sqs, maxTries: 1 }).send({ queue: evil.origin + PATH, ...paid });
    vi.stubEnv("AWS_ENDPOINT_URL_SQS", engine.origin);
    const producer = new MessageProducer({ sqs: ofEnvironment, maxTries: 1 });
    await producer.send({ queue: engine.origin + PATH, ...paid });
    await producer.send({ queue: evil.origin + PATH, ...paid });

    expect(evil.requests).toEqual([]);
    expect(engine.requests).toHaveLength(3);
  });
});

describe("one of our clients", () => {
  it("is signed for the Region of each address, at the endpoint of the environment if there is one", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL_SQS", engine.origin);
    const producer = new MessageProducer({ maxTries: 1 });

    await producer.send({ queue: `https://sqs.us-west-2.amazonaws.com${PATH}`, ...paid });
    await producer.send({ queue: engine.origin + PATH, ...paid });
    await producer.send({ queue: evil.origin + PATH, ...paid });
    await new FifoProducer({ queueUrl: engine.origin + PATH, maxTries: 1 }).send(paid);

    const own = "eu-central-1";
    expect(engine.requests.map(signedFor)).toEqual(["us-west-2", own, own, own]);
    expect(evil.requests).toEqual([]);
  });

  it.each(["vpce-1-2.sqs.us-west-2.vpce.amazonaws.com", "sqs-fips.us-west-2.amazonaws.com"])(
    "asks the endpoint that a queue's URL names, %s, in the Region of that",
    async (host) => {
      const clients = new RegionalClients<SQSClient>(undefined, (config) => new SQSClient(config as object));

      const { config } = await clients.at(parseAddress("queue", `https://${host}${PATH}`)!);

      expect(await config.region()).toBe("us-west-2");
      expect(await config.endpoint?.()).toMatchObject({ protocol: "https:", hostname: host });
    },
  );
});

describe("stored messages", () => {
  it.each([
    ["ours", () => ({})],
    ["given", () => ({ sqs: new SQSClient({ region: "eu-central-1", credentials }) })],
  ])(
    "H75: a message planted for an attacker's host is rejected, and no request leaves: client %s",
    async (_, clients) => {
      const planted = [
        `${evil.origin}${PATH}`,
        `${evil.origin.replace("127.0.0.1", "localhost")}${PATH}`,
        "https://evil.example/123456789012/payments.fifo",
        "https://sqs.eu-central-1.amazonaws.com@evil.example/123456789012/payments.fifo",
      ].map((queue, index): StoredMessage => ({ queue, ...paid, group: `${index}` }));

      const { results, cause } = await deliver(planted, connect(clients()), rules);

      expect(results.map((result) => !result.sent && result.code)).toEqual(
        Array(4).fill("DestinationRefused"),
      );
      expect(String(cause)).not.toContain("evil");
      expect(evil.requests).toEqual([]);
    },
  );

  it("is tried again once an endpoint is configured", async () => {
    const producer = new MessageProducer({ maxTries: 1 });
    const message = { queue: engine.origin + PATH, ...paid };
    const { cause } = await failureOf(producer.send(message));
    vi.stubEnv("AWS_ENDPOINT_URL_SQS", engine.origin);

    await producer.send(message);

    expect(cause).toMatchObject({
      name: "DestinationRefused",
      message: expect.stringContaining("AWS_ENDPOINT_URL_SQS"),
    });
    expect(engine.requests).toHaveLength(1);
  });
});
