// Addresses that a template writes out: account numbers, and the ARNs and URLs that contain them. A stack with a known account
// and region has such literals wherever it imports a resource by name, and where a reference would be circular.
// They are replaced by the addresses of the local resources.
import { LOCAL_ACCOUNT_ID, LOCAL_PARTITION, type LocalEnvironment } from "./local-environment.ts";

type Properties = Readonly<Record<string, unknown>>;

interface NamedService {
  /** The property with the name, by resource type. */
  readonly properties: Readonly<Record<string, string>>;
  /** Stands before the name in an ARN. */
  readonly prefix: string;
  /** Runs in one region here, whatever the region of the stack. */
  readonly hasOneRegion?: boolean;
}

const NAMED: Readonly<Record<string, NamedService>> = {
  dynamodb: {
    properties: { "AWS::DynamoDB::GlobalTable": "TableName", "AWS::DynamoDB::Table": "TableName" },
    prefix: "table/",
  },
  events: { properties: { "AWS::Events::EventBus": "Name" }, prefix: "event-bus/", hasOneRegion: true },
  lambda: { properties: { "AWS::Lambda::Function": "FunctionName" }, prefix: "function:" },
  sns: { properties: { "AWS::SNS::Topic": "TopicName" }, prefix: "", hasOneRegion: true },
  sqs: { properties: { "AWS::SQS::Queue": "QueueName" }, prefix: "", hasOneRegion: true },
};

/** Properties that may have a bare name: the service of that name. */
const NAMING_PROPERTIES: Readonly<Record<string, string>> = {
  EventBusName: "events",
  FunctionName: "lambda",
  TargetFunctionArn: "lambda",
};

const ARN =
  /arn:aws[a-z-]*:(dynamodb|events|lambda|sns|sqs):([a-z\d-]*):(\d{12}):(event-bus\/|function:|table\/|)([\w.-]+)(\/stream\/[\w:.-]+)?/g;
const QUEUE_URL =
  /https:\/\/(?:sqs\.[a-z\d-]+|(?:[a-z\d-]+\.)?queue)\.amazonaws\.com(?:\.cn)?\/(\d{12})\/(?=([\w.-]*))/g;
const API_URL = /https:\/\/([a-z0-9]+)\.execute-api\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?/g;

/** Has no resource in a template. */
const DEFAULT_BUS = "events:default";

/** The name under which `LocalEnvironment.named` finds a resource; `undefined` if it has no name. */
export function nameKey(type: string, properties: Properties): string | undefined {
  for (const [service, named] of Object.entries(NAMED)) {
    const property = named.properties[type];
    const name = property === undefined ? undefined : properties[property];
    if (typeof name === "string") return `${service}:${name}`;
  }
  return undefined;
}

/**
 * The keys of the named resources that must run before a resource can be deployed: its properties contain them as an ARN, as a
 * queue's URL, or just as the name.
 */
export function namesNeededBy(type: string, properties: Properties): string[] {
  const isNamed = Object.values(NAMED).some((named) => type in named.properties);
  // Functions, tables and buses need no others: in their environment and policies, an address is only text.
  const { RedrivePolicy, Subscription } = properties;
  const text = JSON.stringify(isNamed ? [RedrivePolicy, Subscription] : properties);
  const arns = [...text.matchAll(ARN)].map(([, service, , , , name]) => `${service}:${name}`);
  const urls = [...text.matchAll(QUEUE_URL)].map(([, , name]) => `sqs:${name}`);
  const alone = Object.entries(NAMING_PROPERTIES).map(
    ([property, service]) => `${service}:${properties[property]}`,
  );
  return [...arns, ...urls, ...(isNamed ? [] : alone)];
}

/** The value with every such address in it replaced. */
export function withLocalAddresses(value: unknown, environment: LocalEnvironment): unknown {
  if (typeof value === "string") return localText(value, environment);
  if (Array.isArray(value)) return value.map((item) => withLocalAddresses(item, environment));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withLocalAddresses(item, environment)]),
  );
}

function localText(text: string, environment: LocalEnvironment): string {
  const { accounts, apis, named, sqs, region, tables } = environment;
  // The account in a template's literals is its own, if something has that name here.
  const isOurs = (account: string, key: string) =>
    account === LOCAL_ACCOUNT_ID || (accounts === undefined && named.has(key));
  return withoutAccounts(text, accounts)
    .replaceAll(API_URL, (url, apiId: string) => apis.get(apiId)?.server.url ?? url)
    .replaceAll(QUEUE_URL, (url, account: string, name: string) =>
      isOurs(account, `sqs:${name}`) ? `${sqs.endpoint}/${LOCAL_ACCOUNT_ID}/` : url,
    )
    .replaceAll(ARN, (arn, service: string, given: string, account: string, prefix, name, stream = "") => {
      const { hasOneRegion, prefix: expected } = NAMED[service] as NamedService;
      const key = `${service}:${name}`;
      if (prefix !== expected || !isOurs(account, key) || !(named.has(key) || key === DEFAULT_BUS))
        return arn;
      // The time in a stream's ARN is known only here.
      const table = stream !== "" && [...tables.values()].find((each) => each.name === name);
      if (table && table.streamArn !== undefined) return table.streamArn;
      const place = `${hasOneRegion ? region : given}:${LOCAL_ACCOUNT_ID}`;
      return `arn:${LOCAL_PARTITION}:${service}:${place}:${prefix}${name}${stream}`;
    });
}

/** Account numbers also appear by themselves, and in names: so do those from `AWS::AccountId`. */
function withoutAccounts(text: string, accounts: ReadonlySet<string> = new Set()): string {
  return text.replaceAll(/(?<!\d)\d{12}(?!\d)/g, (digits) =>
    accounts.has(digits) ? LOCAL_ACCOUNT_ID : digits,
  );
}
