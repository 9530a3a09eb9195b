// Which client sends to an address: the hosts to which its requests go, and the Regions for which they are signed.
import { createHash } from "node:crypto";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { SNSClient } from "@aws-sdk/client-sns";
import { SQSClient } from "@aws-sdk/client-sqs";
import { describe, expect, it, vi } from "vitest";
import { parseAddress } from "../../lib/core/messages/address.ts";
import { cannotLoad, RegionalClients } from "../../lib/messaging/clients.ts";
import { DestinationRefused } from "../../lib/messaging/destination-queue.ts";
import { FifoProducer } from "../../lib/messaging/fifo-producer.ts";
import { MessageProducer } from "../../lib/messaging/message-producer.ts";
import { failureOf } from "./given.ts";

const PATH = "/123456789012/payments.fifo";
const credentials = { accessKeyId: "AKIDOFTHETEST", secretAccessKey: "local", sessionToken: "the-token" };
const paid = { key: "order-7/paid", group: "order-7", body: "paid" };

const MD5OfMessageBody = createHash("md5").update(paid.body).digest("hex");
const SENT = { Successful: [{ Id: "0", MessageId: "m", MD5OfMessageBody }] };

/** The Region of a request's signature. */
const signedFor = (headers: Readonly<Record<string, unknown>>) =>
  /Credential=\w+\/\d+\/([\w-]+)\//.exec(String(headers.authorization))?.[1];

/** Stands for the network below a client of the SDK: notes where each request goes, and answers as SQS does. */
function networkOf() {
  const seen: { host: string; region: string | undefined; user: string | undefined }[] = [];
  const requestHandler = {
    handle: async ({ hostname, headers }: { hostname: string; headers: Record<string, string> }) => {
      const user = /Credential=(\w+)/.exec(`${headers.authorization}`)?.[1];
      seen.push({ host: hostname, region: signedFor(headers), user });
      const body = JSON.stringify({ ...SENT, Entries: [{ EventId: "e" }] });
      const xml = `<R><PublishBatchResult><Successful><member><Id>0</Id></member></Successful></PublishBatchResult></R>`;
      const isSns = hostname.startsWith("sns");
      return { response: { statusCode: 200, headers: {}, body: Buffer.from(isSns ? xml : body) } };
    },
  };
  return { seen, config: { credentials, requestHandler: requestHandler as never } };
}

describe("a client that is given", () => {
  it("is used for its own Region, and lends its credentials and connections to other Regions", async () => {
    const { seen, config } = networkOf();
    const sqs = new SQSClient({ ...config, region: "eu-central-1" });
    const own = vi.spyOn(sqs, "send");
    const producer = new MessageProducer({ sqs, maxTries: 1 });

    for (const region of ["eu-central-1", "us-west-2", "cn-north-1", "us-west-2"]) {
      const domain = region === "cn-north-1" ? "amazonaws.com.cn" : "amazonaws.com";
      await producer.send({ queue: `https://sqs.${region}.${domain}${PATH}`, ...paid });
    }

    const user = credentials.accessKeyId;
    expect(seen).toEqual([
      { host: "sqs.eu-central-1.amazonaws.com", region: "eu-central-1", user },
      { host: "sqs.us-west-2.amazonaws.com", region: "us-west-2", user },
      { host: "sqs.cn-north-1.amazonaws.com.cn", region: "cn-north-1", user },
      { host: "sqs.us-west-2.amazonaws.com", region: "us-west-2", user },
    ]);
    expect(own).toHaveBeenCalledTimes(1);
  });

  it("lends them for topics, and for event buses that are named by their ARN", async () => {
    const { seen, config } = networkOf();
    const region = "eu-central-1";
    const producer = new MessageProducer({
      sns: new SNSClient({ ...config, region }),
      eventBridge: new EventBridgeClient({ ...config, region }),
      maxTries: 1,
    });
    const event = { source: "shop", detailType: "paid", key: "order-7", body: {} };

    await producer.send({ topic: "arn:aws:sns:us-west-2:123456789012:orders", key: "order-7", body: "paid" });
    await producer.send({ bus: "arn:aws:events:us-west-2:123456789012:event-bus/default", ...event });
    await producer.send({ bus: "default", ...event });

    expect(seen.map(({ host, region }) => `${host} ${region}`)).toEqual([
      "sns.us-west-2.amazonaws.com us-west-2",
      // Whether the bus is there, and the event.
      "events.us-west-2.amazonaws.com us-west-2",
      "events.us-west-2.amazonaws.com us-west-2",
      "events.eu-central-1.amazonaws.com eu-central-1",
    ]);
  });

  it("sends to the endpoint that a queue's URL names, of a VPC or FIPS, in its own Region and in others", async () => {
    const { seen, config } = networkOf();
    const producer = new FifoProducer({
      queueUrl: `https://vpce-1-2.sqs.us-west-2.vpce.amazonaws.com${PATH}`,
      client: new SQSClient({ ...config, region: "eu-central-1" }),
    });

    await producer.send(paid);

    expect(seen).toMatchObject([{ host: "vpce-1-2.sqs.us-west-2.vpce.amazonaws.com", region: "us-west-2" }]);
  });

  it.each(["http://localhost:4566", "http://sqs.localhost"])(
    "is used for every Region if it uses its own endpoint, %s",
    async (endpoint) => {
      const { seen, config } = networkOf();
      const sqs = new SQSClient({ ...config, region: "eu-central-1", endpoint });
      const own = vi.spyOn(sqs, "send");
      const producer = new MessageProducer({ sqs, maxTries: 1 });

      await producer.send({ queue: `https://sqs.us-west-2.amazonaws.com${PATH}`, ...paid });
      await producer.send({ queue: endpoint + PATH, ...paid });

      expect(seen.map(({ host }) => host)).toEqual(Array(2).fill(new URL(endpoint).hostname));
      expect(own).toHaveBeenCalledTimes(2);
    },
  );

  it("H75: keeps its credentials from another host that a message names", async () => {
    const { seen, config } = networkOf();
    const sqs = new SQSClient({ ...config, region: "eu-central-1", endpoint: "http://sqs.localhost" });

    await new MessageProducer({ sqs, maxTries: 1 }).send({ queue: `http://evil:4566${PATH}`, ...paid });

    expect(seen.map(({ host }) => host)).toEqual(["sqs.localhost"]);
  });
});

/** The parts of a client's configuration that decide; the SDK's clients have the same functions. */
function clientWith(config: { region?: string; endpoint?: string; environment?: string } = {}) {
  const { region, endpoint, environment } = config;
  const { protocol, hostname, port } = Object(endpoint && new URL(endpoint));
  return {
    config: {
      ...(region && { region: async () => region }),
      ...(endpoint && {
        endpoint: async () => ({ protocol, hostname, ...(port && { port: Number(port) }) }),
      }),
      ...(environment && { serviceConfiguredEndpoint: async () => environment }),
      credentials: "its credentials",
      requestHandler: "its connections",
    },
    send: () => {},
  };
}

describe("RegionalClients", () => {
  const ENGINE = "http://localhost:4566";
  const HOME = "eu-central-1";
  const LENT = { credentials: "its credentials", requestHandler: "its connections" };
  const queueAt = (origin: string) => parseAddress("queue", origin + PATH)!;
  const queueIn = (region: string) => queueAt(`https://sqs.${region}.amazonaws.com`);
  const ofVpc = queueAt("https://vpce-1-2.sqs.us-west-2.vpce.amazonaws.com");
  const bus = parseAddress("bus", "shop")!;

  /** The clients for addresses: the one that is given, or the configuration of one that was made. */
  async function clientsFor(
    given: ReturnType<typeof clientWith> | undefined,
    addresses: readonly ReturnType<typeof queueAt>[],
    environment?: string,
  ) {
    const made = new Map<unknown, object>();
    const clients = new RegionalClients(given, (config) => {
      const client = clientWith({ ...(environment && { environment }) });
      made.set(client, config);
      return client;
    });
    const used = [];
    for (const address of addresses) used.push(await clients.at(address));
    return { used: used.map((each) => (each === given ? "given" : made.get(each))), made: made.size };
  }

  it("makes one client for each Region and endpoint", async () => {
    const addresses = [queueIn("us-west-2"), ofVpc, queueIn(HOME), queueIn("us-west-2"), bus];

    const { used, made } = await clientsFor(undefined, addresses);

    const west = { region: "us-west-2" };
    const vpc = { ...west, endpoint: "https://vpce-1-2.sqs.us-west-2.vpce.amazonaws.com" };
    expect(used).toEqual([west, vpc, { region: HOME }, west, { region: undefined }]);
    // The client for the VPC is the second one made for it: the first showed that no endpoint is configured.
    expect(made).toBe(5);
  });

  it("uses an endpoint of the environment for every address", async () => {
    const { used } = await clientsFor(undefined, [ofVpc, queueAt(ENGINE)], ENGINE);

    expect(used).toEqual([{ region: "us-west-2" }, { region: undefined }]);
  });

  it.each<[string, Parameters<typeof clientWith>[0], readonly ReturnType<typeof queueAt>[], unknown[]]>([
    ["has no Region", {}, [queueIn("us-west-2"), ofVpc, queueAt(ENGINE)], ["given", "given", "given"]],
    ["has a Region", { region: HOME }, [queueIn(HOME), bus], ["given", "given"]],
    [
      "has another Region",
      { region: HOME },
      [queueIn("us-west-2"), ofVpc],
      [
        { region: "us-west-2", ...LENT },
        { region: "us-west-2", endpoint: "https://vpce-1-2.sqs.us-west-2.vpce.amazonaws.com", ...LENT },
      ],
    ],
    [
      "has an endpoint",
      { region: HOME, endpoint: ENGINE },
      [queueAt(ENGINE), queueIn("us-west-2"), queueAt("http://localhost:9"), queueAt(ENGINE)],
      ["given", "given", { region: HOME, endpoint: ENGINE, ...LENT }, "given"],
    ],
    [
      "has an endpoint without a port",
      { region: HOME, endpoint: "http://sqs.localhost" },
      [queueAt("http://sqs.localhost"), queueAt("http://sqs.localhost:80")],
      ["given", "given"],
    ],
    [
      "has an endpoint of the environment",
      { region: HOME, environment: `${ENGINE}/sqs` },
      [queueAt(ENGINE), queueIn("us-west-2"), queueAt("http://localhost:9")],
      ["given", "given", { region: HOME, endpoint: ENGINE, ...LENT }],
    ],
  ])(
    "chooses a client for each address if the one that is given %s",
    async (_, config, addresses, expected) => {
      expect((await clientsFor(clientWith(config), addresses)).used).toEqual(expected);
    },
  );

  it.each<[string, ReturnType<typeof clientWith> | undefined]>([
    ["given", clientWith({ region: HOME })],
    ["ours", undefined],
  ])("H75: refuses a local engine without a configured endpoint: client %s", async (_, given) => {
    await expect(clientsFor(given, [queueAt(ENGINE)])).rejects.toThrow(DestinationRefused);
  });

  it("makes a client again that couldn't be made", async () => {
    let tries = 0;
    const clients = new RegionalClients(undefined, () => {
      if (++tries === 1) throw new Error("no file handles");
      return clientWith();
    });

    await expect(clients.at(bus)).rejects.toThrow("no file handles");
    await clients.at(bus);
    await clients.at(bus);

    expect(tries).toBe(2);
  });
});

describe("one of our clients", () => {
  it("sends to the endpoint of the environment, whatever host a queue's URL names", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", credentials.accessKeyId);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", credentials.secretAccessKey);
    vi.stubEnv("AWS_MAX_ATTEMPTS", "1");
    const queue = `https://sqs.us-west-2.amazonaws.com${PATH}`;

    const { failed } = await failureOf(new MessageProducer({ maxTries: 1 }).send({ queue, ...paid }));

    expect(failed).toEqual([{ id: "0", code: "ECONNREFUSED" }]);
    vi.unstubAllEnvs();
  });
});

describe("a package that can't be loaded", () => {
  it.each([Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" }), undefined])(
    "is named, with the reason and its code: %s",
    (cause) => {
      const error = expect.objectContaining({
        message: "sending these messages needs @aws-sdk/client-sqs: npm install @aws-sdk/client-sqs",
        cause,
        code: cause?.code,
      });

      expect(() => cannotLoad("@aws-sdk/client-sqs")(cause)).toThrow(error);
    },
  );
});
