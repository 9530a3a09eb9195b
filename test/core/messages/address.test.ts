import { SQSClient } from "@aws-sdk/client-sqs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { destinationOf, parseAddress, queueUrlOfArn } from "../../../lib/core/messages/address.ts";

const ACCOUNT = "123456789012";
const PATH = `/${ACCOUNT}/payments.fifo`;
const OWN = `https://sqs.eu-central-1.amazonaws.com${PATH}`;
const TOPIC = `arn:aws:sns:eu-central-1:${ACCOUNT}:orders`;
const BUS = `arn:aws:events:eu-central-1:${ACCOUNT}:event-bus/shop`;

/** A Region of each partition. */
const REGIONS = [
  ["eu-central-1", "aws"],
  ["ap-southeast-7", "aws"],
  ["mx-central-1", "aws"],
  ["cn-north-1", "aws-cn"],
  ["us-gov-west-1", "aws-us-gov"],
  ["eusc-de-east-1", "aws-eusc"],
  ["us-iso-east-1", "aws-iso"],
  ["us-isob-east-1", "aws-iso-b"],
  ["eu-isoe-west-1", "aws-iso-e"],
  ["us-isof-south-1", "aws-iso-f"],
] as const;

describe("parseAddress of a queue", () => {
  const { endpointProvider } = new SQSClient({}).config;
  const kinds = [
    { UseFIPS: false, UseDualStack: false },
    { UseFIPS: true, UseDualStack: false },
    { UseFIPS: false, UseDualStack: true },
    { UseFIPS: true, UseDualStack: true },
  ];

  it.each(REGIONS.flatMap(([Region, id]) => kinds.map((kind) => [Region, id, kind] as const)))(
    "accepts every endpoint that the SDK knows, in every partition of AWS: of %s (%s), %j",
    (Region, _, kind) => {
      const { origin } = endpointProvider({ Region, ...kind }).url;
      const address = parseAddress("queue", origin + PATH);

      expect(address).toMatchObject({ text: origin + PATH, region: Region, isFifo: true });
      expect(address?.name).toBe(`queue:${Region}:${PATH}`);
    },
  );

  it.each([
    [OWN],
    [`HTTPS://SQS.EU-CENTRAL-1.amazonaws.com${PATH}`],
    [`https://sqs.eu-central-1.amazonaws.com:443${PATH}`],
    [`https://eu-central-1.queue.amazonaws.com${PATH}`],
  ])("is one string for all spellings of the Region's own endpoint: %s", (url) => {
    expect(parseAddress("queue", url)).toEqual({
      text: OWN,
      name: `queue:eu-central-1:${PATH}`,
      isFifo: true,
      region: "eu-central-1",
      endpoint: undefined,
    });
  });

  it("knows the first endpoint of SQS, which names no Region", () => {
    expect(parseAddress("queue", `https://queue.amazonaws.com${PATH}`)?.text).toBe(
      `https://sqs.us-east-1.amazonaws.com${PATH}`,
    );
  });

  it.each([
    "https://sqs-fips.eu-central-1.amazonaws.com",
    "https://sqs.eu-central-1.api.aws",
    "https://vpce-0a1b2c3d4e5f-1a2b3c4d.sqs.eu-central-1.vpce.amazonaws.com",
    "https://vpce-0a1b2c3d4e5f-1a2b3c4d-eu-central-1a.sqs.eu-central-1.vpce.amazonaws.com",
  ])("keeps a custom endpoint, under the name that all have: %s", (endpoint) => {
    expect(parseAddress("queue", endpoint + PATH)).toEqual({
      text: endpoint + PATH,
      name: `queue:eu-central-1:${PATH}`,
      isFifo: true,
      region: "eu-central-1",
      endpoint,
    });
  });

  it.each([
    "http://127.0.0.1:4100/000000000000/payments.fifo",
    "http://localhost:4566/000000000000/payments.fifo",
    "http://[::1]:4566/000000000000/payments.fifo",
    "http://localstack:4566/000000000000/payments.fifo",
    "http://host.docker.internal:9324/000000000000/payments.fifo",
    "https://sqs.us-east-1.localhost.localstack.cloud:4566/000000000000/payments.fifo",
  ])("accepts a local engine's queue, under one name by any host: %s", (url) => {
    expect(parseAddress("queue", url)).toEqual({
      text: url,
      name: "queue:local:/000000000000/payments.fifo",
      isFifo: true,
      isLocal: true,
    });
  });

  it.each(["/payments", "/queue/payments", "/queue/us-east-1/000000000000/payments"])(
    "accepts the paths of local engines: %s",
    (path) => {
      expect(parseAddress("queue", `http://localhost:9324${path}`)).toMatchObject({
        isLocal: true,
        isFifo: false,
      });
    },
  );

  it.each([
    ["nothing", ""],
    ["a value that is not there", "undefined"],
    ["an account that is not there", "https://sqs.eu-central-1.amazonaws.com/undefined/q.fifo"],
    ["a Region that is not there", `https://sqs.undefined.amazonaws.com${PATH}`],
    ["a queue that is not there", `https://sqs.eu-central-1.amazonaws.com/${ACCOUNT}/undefined`],
    ["a FIFO queue that is not there", `https://sqs.eu-central-1.amazonaws.com/${ACCOUNT}/undefined.fifo`],
    ["no queue", `https://sqs.eu-central-1.amazonaws.com/${ACCOUNT}`],
    ["a trailing slash", `${OWN}/`],
    ["a query", `${OWN}?a=b`],
    ["a fragment", `${OWN}#a`],
    ["a space", `${OWN} `],
    ["a line break", `${OWN}\n`],
    ["a tab inside", OWN.replace("sqs", "s\tqs")],
    ["an ARN", `arn:aws:sqs:eu-central-1:${ACCOUNT}:payments.fifo`],
    ["a name", "payments.fifo"],
    ["plain HTTP", OWN.replace("https", "http")],
    ["another port", OWN.replace(".com/", ".com:8443/")],
    ["a user name", OWN.replace("sqs", "sqs@sqs")],
    ["a user name that looks like the host", `https://sqs.eu-central-1.amazonaws.com@evil.example${PATH}`],
    ["a host of somebody else", `https://evil.example${PATH}`],
    ["a host that begins like SQS's", `https://sqs.eu-central-1.amazonaws.com.evil.example${PATH}`],
    ["a host that ends like SQS's", `https://evil-sqs.eu-central-1.amazonaws.com${PATH}`],
    ["a host that ends like the VPC's", `https://vpce-1.evil.eu-central-1.vpce.amazonaws.com${PATH}`],
    [
      "a host in a VPC that ends like SQS's",
      `https://vpce-1.evil-sqs.eu-central-1.vpce.amazonaws.com${PATH}`,
    ],
    ["a former host in a VPC", `https://vpce-1.eu-central-1.queue.eu-central-1.vpce.amazonaws.com${PATH}`],
    ["a VPC's host elsewhere", `https://vpce-1.sqs.eu-central-1.evil.example${PATH}`],
    ["a VPC's host without its endpoint", `https://sqs.eu-central-1.vpce.amazonaws.com${PATH}`],
    ["a host made of two missing values", `https://sqs.undefined.undefined${PATH}`],
    ["a space at the start", ` ${OWN}`],
    ["a local engine by another protocol", "xhttp://localhost:4566/000000000000/payments"],
    ["a bucket", `https://sqs.s3.eu-central-1.amazonaws.com${PATH}`],
    ["a dot behind the host", OWN.replace(".com/", ".com./")],
    ["a domain of another partition", OWN.replace("eu-central-1", "cn-north-1")],
    ["a Region of another partition", OWN.replace(".com/", ".com.cn/")],
    ["the address of instance metadata", `http://169.254.169.254${PATH}`],
    ["a private address", `http://10.0.0.7:4566${PATH}`],
    ["an escaped path", `https://sqs.eu-central-1.amazonaws.com/${ACCOUNT}%2Fpayments.fifo`],
    ["a backslash", `https://sqs.eu-central-1.amazonaws.com\\${ACCOUNT}\\payments.fifo`],
    ["a short account", "https://sqs.eu-central-1.amazonaws.com/12345/payments.fifo"],
    ["a name that is too long", `https://sqs.eu-central-1.amazonaws.com/${ACCOUNT}/${"q".repeat(81)}`],
    ["a name with a dot", `https://sqs.eu-central-1.amazonaws.com/${ACCOUNT}/pay.ments`],
    ["another ending in capitals", `https://sqs.eu-central-1.amazonaws.com/${ACCOUNT}/payments.FIFO`],
    ["a local engine's undefined", "http://localhost:4566/undefined/payments"],
    ["a local host that is not there", "http://undefined:4566/000000000000/payments"],
    ["another protocol", OWN.replace("https", "ftp")],
  ])("H75: refuses %s", (_, url) => {
    expect(parseAddress("queue", url)).toBeUndefined();
  });

  it.each([undefined, null, 5, [OWN], { toString: () => OWN }])(
    "rejects anything but a string: %j",
    (value) => {
      expect(parseAddress("queue", value)).toBeUndefined();
    },
  );

  it("H75: for any string, requests go only to SQS, or to a configured endpoint", () => {
    const part = fc.constantFrom(
      ..."https:// http:// sqs. eu-central-1 .amazonaws.com .vpce vpce-1. evil.example @ : 443 / \\ # ? % . localhost".split(
        " ",
      ),
      `${ACCOUNT}/q`,
      PATH,
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 9 }), (parts) => {
        const address = parseAddress("queue", parts.join(""));
        if (address === undefined || address.isLocal) return;
        const { hostname, protocol, username, port } = new URL(address.text);
        expect([protocol, username, port]).toEqual(["https:", "", ""]);
        expect(hostname).toMatch(/^(vpce-1\.)?sqs\.eu-central-1\.(vpce\.)?amazonaws\.com$/);
      }),
      { numRuns: 5000 },
    );
  });
});

describe("parseAddress of a topic", () => {
  it.each(REGIONS)("accepts an ARN of %s, in %s", (region, id) => {
    const arn = `arn:${id}:sns:${region}:${ACCOUNT}:orders.fifo`;
    expect(parseAddress("topic", arn)).toEqual({ text: arn, name: `topic:${arn}`, isFifo: true, region });
  });

  it.each([
    ["a queue's ARN", `arn:aws:sqs:eu-central-1:${ACCOUNT}:orders`],
    ["a subscription's ARN", `${TOPIC}:6b0e71bd-7e97-4d97-80ce-4a0994e55286`],
    ["another partition's Region", TOPIC.replace("eu-central-1", "cn-north-1")],
    ["a Region that is not there", TOPIC.replace("eu-central-1", "undefined")],
    ["an account that is not there", TOPIC.replace(ACCOUNT, "undefined")],
    ["an account with a letter before it", TOPIC.replace(ACCOUNT, `a${ACCOUNT}`)],
    ["an account with a letter after it", TOPIC.replace(ACCOUNT, `${ACCOUNT}a`)],
    ["a topic that is not there", TOPIC.replace("orders", "undefined")],
    ["no topic", TOPIC.replace("orders", "")],
    ["a trailing slash", `${TOPIC}/`],
    ["a name", "orders"],
    ["a long name", TOPIC.replace("orders", "o".repeat(257))],
    ["a space", `${TOPIC} `],
    ["a line break", `${TOPIC}\n`],
  ])("refuses %s", (_, arn) => {
    expect(parseAddress("topic", arn)).toBeUndefined();
  });
});

describe("parseAddress of a bus", () => {
  it("accepts a name, which doesn't contain its Region, and an ARN, which does", () => {
    expect(parseAddress("bus", "shop")).toEqual({ text: "shop", name: "bus:shop", isFifo: false });
    expect(parseAddress("bus", BUS)).toMatchObject({ text: BUS, isFifo: false, region: "eu-central-1" });
    expect(parseAddress("bus", "orders.fifo")?.isFifo).toBe(false);
    expect(parseAddress("bus", BUS.replace("shop", "shop.fifo"))?.isFifo).toBe(false);
  });

  it.each([
    ["nothing", ""],
    ["a value that is not there", "undefined"],
    ["a trailing slash", "shop/"],
    ["a partner's bus", "aws.partner/example.com/1"],
    ["a rule", BUS.replace("event-bus/", "rule/")],
    [
      "an event bus of the second version",
      `${BUS.replace("event-bus", "event-busv2")}/abcdefghijklmnopqrstuvwxy`,
    ],
    ["an ARN whose bus is not there", BUS.replace("shop", "undefined")],
    ["another service's ARN", TOPIC],
    ["another service's ARN with a bus", BUS.replace("events", "sns")],
    ["another resource of the same length", BUS.replace("event-bus", "other-bus")],
    ["a long name", "b".repeat(257)],
  ])("refuses %s", (_, bus) => {
    expect(parseAddress("bus", bus)).toBeUndefined();
  });
});

describe("destinationOf", () => {
  it("is one name for three spellings of a queue, and others for other destinations", () => {
    const names = [
      OWN,
      OWN.replace("sqs.eu-central-1", "eu-central-1.queue"),
      OWN.replace("sqs.", "sqs-fips."),
    ].map((queue) => destinationOf({ queue }));

    expect(new Set(names).size).toBe(1);
    expect(
      new Set([
        ...names,
        destinationOf({ queue: OWN.replace("eu-central-1", "eu-west-1") }),
        destinationOf({ queue: OWN.replace("payments", "refunds") }),
        destinationOf({ topic: TOPIC }),
        destinationOf({ bus: "shop" }),
        destinationOf({ bus: BUS }),
      ]).size,
    ).toBe(6);
  });

  it("treats a value that isn't an address, from a version that checked less, as its own name", () => {
    expect(destinationOf({ queue: "nowhere" })).toBe("queue:nowhere");
    expect(destinationOf({ queue: 5 as unknown as string })).toBe("queue:");
    expect(destinationOf({})).toBe("");
  });
});

describe("queueUrlOfArn", () => {
  it.each(REGIONS)("is an address of the queue in every partition of AWS: %s in %s", (region, id) => {
    const url = queueUrlOfArn(`arn:${id}:sqs:${region}:${ACCOUNT}:payments.fifo`);
    expect(parseAddress("queue", url)).toMatchObject({ text: url, region, endpoint: undefined });
  });

  it.each([
    TOPIC,
    "",
    `arn:aws:sqs:cn-north-1:${ACCOUNT}:q`,
    `arn:aws:sqs:eu-central-1:${ACCOUNT}:`,
    "arn:aws:sqs",
  ])("is nothing for another ARN: %s", (arn) => {
    expect(queueUrlOfArn(arn)).toBeUndefined();
  });
});
