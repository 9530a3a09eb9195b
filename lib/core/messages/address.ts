/**
 * Parses addresses of queues, topics and event buses once, strictly, as AWS and the local engines spell them. An address that
 * no request can ever reach is refused here, before anything is written. Pure.
 */

export interface Address {
  /** One spelling for all equivalent addresses: stored, and used in requests. */
  readonly text: string;
  /** The same for every spelling of one destination: messages are ordered per name. */
  readonly name: string;
  readonly isFifo: boolean;
  /** The Region for which requests are signed; absent if the address doesn't contain it. */
  readonly region?: string | undefined;
  /** An SQS endpoint other than the Region's default: VPC, FIPS or dual stack. */
  readonly endpoint?: string | undefined;
  /** On a developer's local engine, which only a client with a configured endpoint reaches. */
  readonly isLocal?: boolean | undefined;
}

/** The fields of a message that name its destination. */
export const ADDRESS_KINDS = ["queue", "topic", "bus"] as const;
export type AddressKind = (typeof ADDRESS_KINDS)[number];

/** The rule for each kind of address, as errors state it. */
export const ADDRESS_RULES: Readonly<Record<AddressKind, string>> = {
  queue: "a queue URL, such as https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo",
  topic: "a topic ARN, such as arn:aws:sns:eu-central-1:123456789012:orders",
  bus: "an event bus name or ARN, such as arn:aws:events:eu-central-1:123456789012:event-bus/shop; AWS's SDK has no client yet to send to an event-busv2",
};

/**
 * Partitions: the Regions of each, the domain of its endpoints, and the domain of its dual-stack endpoints. A new Region falls
 * under the first pattern that fits.
 * https://docs.aws.amazon.com/general/latest/gr/sqs-service.html
 */
const PARTITIONS: readonly (readonly [id: string, regions: string, domain: string, dualStack: string])[] = [
  ["aws-cn", "cn-[a-z]+-\\d{1,2}", "amazonaws.com.cn", "api.amazonwebservices.com.cn"],
  ["aws-us-gov", "us-gov-[a-z]+-\\d{1,2}", "amazonaws.com", "api.aws"],
  ["aws-eusc", "eusc-[a-z]{2}-[a-z]+-\\d{1,2}", "amazonaws.eu", "api.amazonwebservices.eu"],
  ["aws-iso", "us-iso-[a-z]+-\\d{1,2}", "c2s.ic.gov", "api.aws.ic.gov"],
  ["aws-iso-b", "us-isob-[a-z]+-\\d{1,2}", "sc2s.sgov.gov", "api.aws.scloud"],
  ["aws-iso-e", "eu-isoe-[a-z]+-\\d{1,2}", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"],
  ["aws-iso-f", "us-isof-[a-z]+-\\d{1,2}", "csp.hci.ic.gov", "api.aws.hci.ic.gov"],
  ["aws", "[a-z]{2}-[a-z]+-\\d{1,2}", "amazonaws.com", "api.aws"],
];

/** The name of a queue or a topic; its length includes the ending. */
const NAME = "(?!(?:undefined|null|NaN)(?:\\.fifo)?$)[\\w-]+(?:\\.fifo)?";
const QUEUE_PATH = new RegExp(`^/\\d{12}/(?=.{1,80}$)${NAME}$`);
const TOPIC_NAME = new RegExp(`^(?=.{1,256}$)${NAME}$`);
/** Partner event buses have slashes in their names, and only the partner can send to them. */
const BUS_NAME = /^(?!(?:undefined|null|NaN)$)[\w.-]{1,256}$/;

/** Local engines put an account, nothing, or more before the queue. */
const LOCAL_PATH = new RegExp(`^(?:/(?!undefined/|null/|NaN/)[\\w-]+){0,3}/(?=.{1,80}$)${NAME}$`);
/** Names of this machine, and one-word hosts, as containers call each other. */
const LOCAL_HOST =
  /^(?!undefined$|null$|nan$)(?:[a-z][\w-]*|(?:[\w-]+\.)+localhost|127(?:\.\d+){3}|\[::1\]|host\.docker\.internal|(?:[\w-]+\.)*localhost\.localstack\.cloud)$/;

/** `undefined` if the text isn't an address of this kind. */
export function parseAddress(kind: AddressKind, text: unknown): Address | undefined {
  if (typeof text !== "string") return undefined;
  return kind === "queue" ? parseQueue(text) : parseArn(kind, text);
}

/** The name of a message's destination: the same for every spelling. Text that isn't an address stands for itself. */
export function destinationOf(message: { readonly [kind in AddressKind]?: string | undefined }): string {
  const kind = ADDRESS_KINDS.find((each) => message[each] !== undefined);
  if (kind === undefined) return "";
  const text: unknown = message[kind];
  // The text may come from a database, and be anything.
  return parseAddress(kind, text)?.name ?? `${kind}:${typeof text === "string" ? text : ""}`;
}

/** The URL at which SQS accepts requests for the queue with this ARN; `undefined` for any other ARN. */
export function queueUrlOfArn(arn: string): string | undefined {
  const [, id, service, region = "", account, name] = arn.split(":");
  const [partition, , domain] = partitionOf(region) ?? [];
  if (service !== "sqs" || partition === undefined || partition !== id || !name) return undefined;
  return `https://sqs.${region}.${domain}/${account}/${name}`;
}

function parseQueue(text: string): Address | undefined {
  // A URL object would accept spaces, user names and backslashes, which hide the real host.
  if (!/^https?:\/\/[^\s@?#%\\]+$/i.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, hostname, port, pathname, href, origin } = new URL(text);
  const isFifo = pathname.endsWith(".fifo");
  const place = placeOf(hostname);
  if (place === undefined) {
    if (!LOCAL_HOST.test(hostname) || !LOCAL_PATH.test(pathname)) return undefined;
    return { text: href, name: `queue:local:${pathname}`, isFifo, isLocal: true };
  }
  if (protocol !== "https:" || port !== "" || !QUEUE_PATH.test(pathname)) return undefined;
  const { region, domain, isOwn } = place;
  const root = isOwn ? `https://sqs.${region}.${domain}` : origin;
  const name = `queue:${region}:${pathname}`;
  return { text: root + pathname, name, isFifo, region, endpoint: isOwn ? undefined : origin };
}

/** The Region of an SQS endpoint; `isOwn` for the default endpoint of clients, under any of its names. */
function placeOf(host: string) {
  if (host === "queue.amazonaws.com") return { region: "us-east-1", domain: "amazonaws.com", isOwn: true };
  const region =
    /^(?:vpce-[a-z\d-]+\.)?sqs(?:-fips)?\.([a-z\d-]+)\./.exec(host)?.[1] ??
    /^([a-z\d-]+)\.queue\./.exec(host)?.[1];
  const [, , domain, dualStack] = (region && partitionOf(region)) || [];
  if (region === undefined || domain === undefined) return undefined;
  const isOwn = [`sqs.${region}.${domain}`, `${region}.queue.${domain}`].includes(host);
  const isOther =
    [
      `sqs-fips.${region}.${domain}`,
      `sqs.${region}.${dualStack}`,
      `sqs-fips.${region}.${dualStack}`,
    ].includes(host) ||
    (host.startsWith("vpce-") && host.endsWith(`.${region}.vpce.${domain}`));
  return isOwn || isOther ? { region, domain, isOwn } : undefined;
}

function parseArn(kind: "topic" | "bus", text: string): Address | undefined {
  if (kind === "bus" && BUS_NAME.test(text)) return { text, name: `bus:${text}`, isFifo: false };
  const [arn, id, service, region = "", account, resource = "", ...more] = text.split(":");
  if (arn !== "arn" || more.length > 0 || !/^\d{12}$/.test(`${account}`)) return undefined;
  if (partitionOf(region)?.[0] !== id) return undefined;
  const isResource =
    kind === "topic"
      ? service === "sns" && TOPIC_NAME.test(resource)
      : service === "events" && resource.startsWith("event-bus/") && BUS_NAME.test(resource.slice(10));
  if (!isResource) return undefined;
  return { text, name: `${kind}:${text}`, isFifo: kind === "topic" && resource.endsWith(".fifo"), region };
}

function partitionOf(region: string) {
  return PARTITIONS.find(([, regions]) => new RegExp(`^${regions}$`).test(region));
}
