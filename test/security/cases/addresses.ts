// Addresses of queues, topics and buses: a signed request with a session token goes to AWS's own hosts alone.
import { parseAddress } from "../../../lib/core/messages/address.ts";
import { prepareMessage } from "../../../lib/core/messages/prepare-message.ts";
import { hold, type Suite } from "../world.ts";
import { ODD_OTHERS, ODD_TEXTS } from "./odd-values.ts";

interface HostileAddress {
  readonly kind: "queue" | "topic" | "bus";
  readonly address: unknown;
}

const HOSTS = [
  "sqs.eu-central-1.amazonaws.com",
  "sqs.us-east-1.amazonaws.com",
  "queue.amazonaws.com",
  "eu-central-1.queue.amazonaws.com",
  "sqs-fips.us-east-1.amazonaws.com",
  "sqs.cn-north-1.amazonaws.com.cn",
  "vpce-0a1b-2c3d.sqs.eu-central-1.vpce.amazonaws.com",
];
const EVIL = "attacker.example";
const TRICKS: readonly ((host: string, path: string) => string)[] = [
  (host, path) => `http://${host}${path}`,
  (host, path) => `https://${host}.${EVIL}${path}`,
  (_, path) => `https://${EVIL}${path}`,
  (host, path) => `https://${host}@${EVIL}${path}`,
  (host, path) => `https://user:pass@${host}${path}`,
  (host, path) => `https://${EVIL}#@${host}${path}`,
  (host, path) => `https://${EVIL}?${host}${path}`,
  (host, path) => `https://${EVIL}\\@${host}${path}`,
  (host, path) => `https://${EVIL}/\\${host}${path}`,
  (host, path) => `https://${EVIL}%2f${host}${path}`,
  (host, path) => `https://${host}%00.${EVIL}${path}`,
  (host, path) => `https://${host}%2e${EVIL}${path}`,
  (host, path) => `https://${host}\u3002${EVIL}${path}`,
  (host, path) => `https://${host}\u2024${EVIL}${path}`,
  (host, path) => `https://${host}\t.${EVIL}${path}`,
  (host, path) => `https://${host}\n${path}`,
  (host, path) => ` https://${host}${path}`,
  (host, path) => `https://${host}${path} `,
  (host, path) => `https:/${host}${path}`,
  (host, path) => `https:${host}${path}`,
  (host, path) => `//${host}${path}`,
  (host, path) => `${host}${path}`,
  (host, path) => `file://${host}${path}`,
  (host, path) => `javascript://${host}${path}`,
  (host, path) => `ftp://${host}${path}`,
  (host, path) => `https://${host}:443${path}`,
  (host, path) => `https://${host}:8443${path}`,
  (host, path) => `https://${host}:0${path}`,
  (host, path) => `https://${host}.${path}`,
  (host, path) => `https://${host}..${EVIL}${path}`,
  (host, path) => `https://x.${host}${path}`,
  (host, path) => `https://x-${host}${path}`,
  (host, path) => `https://${host.toUpperCase()}${path}`,
  (host, path) => `HTTPS://${host}${path}`,
  (host, path) => `https://${host.replace("amazonaws", "amazonaws-")}${path}`,
  (host, path) => `https://${host.replace("amazonaws", "amaz0naws")}${path}`,
  (host, path) => `https://${host.replace("a", "а")}${path}`,
  (host, path) => `https://${host.replace("amazonaws.com", "amazonaws.com.evil.com")}${path}`,
  (host, path) => `https://${host.replace("sqs", "sns")}${path}`,
  (host, path) => `https://${host.replace("eu-central-1", "eu-central-1.evil")}${path}`,
  (host, path) => `https://${host.replace("eu-central-1", "../..")}${path}`,
  (host, path) => `https://${host}${path}?Action=DeleteQueue`,
  (host, path) => `https://${host}${path}#x`,
  (host, path) => `https://${host}${path}/`,
  (host, path) => `https://${host}/${path}`,
  (host, path) => `https://${host}${path}/../other`,
  (host, path) => `https://${host}/%2e%2e${path}`,
  (host, path) => `https://${host}${path.replace("payments", "pay%6dents")}`,
  (host, path) => `https://${host}${path.replace("payments", "undefined")}`,
  (host, path) => `https://${host}${path.replace("payments", "pay ments")}`,
  (host, path) => `https://${host}${path.replace("payments", "p".repeat(81))}`,
  (host, path) => `https://${host}${path.replace("123456789012", "undefined")}`,
  (host, path) => `https://${host}${path.replace("123456789012", "12345678901")}`,
];
const LOCAL = [
  "169.254.169.254",
  "169.254.170.2",
  "[fd00:ec2::254]",
  "0.0.0.0",
  "10.0.0.1",
  "192.168.0.1",
  "2130706433",
  "0x7f.1",
  "127.1",
  "[::ffff:127.0.0.1]",
  "metadata.google.internal",
  "localhost.attacker.example",
  "127.0.0.1.attacker.example",
  "attacker.example",
  "localhost",
  "127.0.0.1:4566",
  "localstack:4566",
  "undefined",
  "null",
];
const ARN_PARTS = ["arn", "aws", "sns", "eu-central-1", "123456789012", "orders"];
const ODD_PARTS = [
  "",
  "undefined",
  "null",
  "*",
  "aws-cn",
  "sqs",
  "lambda",
  "events",
  "us-gov-east-1",
  "EU-CENTRAL-1",
  "12345678901",
  "1234567890123",
  "../orders",
  "orders:sub",
  "orders/x",
  "o".repeat(300),
  "orders ",
  "órders",
  "\u0000",
  "event-bus/shop",
  "event-bus/aws.partner/x",
];

function inputs(): HostileAddress[] {
  const queues = HOSTS.flatMap((host) => TRICKS.map((trick) => trick(host, "/123456789012/payments.fifo")));
  const locals = LOCAL.flatMap((host) =>
    ["http", "https"].map((scheme) => `${scheme}://${host}/000000000000/payments`),
  );
  const arns = ["sns", "events"].flatMap((service) =>
    ARN_PARTS.flatMap((_, index) =>
      ODD_PARTS.map((part) =>
        ARN_PARTS.map((own, at) => (at === index ? part : own === "sns" ? service : own)).join(":"),
      ),
    ),
  );
  const values = [...ODD_TEXTS, ...ODD_OTHERS];
  return [
    ...[...queues, ...locals, ...values].map((address) => ({ kind: "queue", address }) as const),
    ...[...arns, ...values].map((address) => ({ kind: "topic", address }) as const),
    ...[...arns.filter((arn) => arn.includes("events")), ...values].map(
      (address) => ({ kind: "bus", address }) as const,
    ),
  ];
}

/** Said by a rule of its own: who may get a signed request. Engines of a developer's own get none that is not configured. */
const IS_AWS =
  /^https:\/\/(?:vpce-[a-z\d-]+\.sqs\.[a-z\d-]+\.vpce|sqs(?:-fips)?\.[a-z]{2}(?:-[a-z]+)+-\d+|[a-z\d-]+\.queue|queue)\.amazonaws\.com(?:\.cn)?\/\d{12}\/[\w-]{1,80}(?:\.fifo)?$/;
const IS_LOCAL = /^https?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|[a-z][\w-]*)(?::\d+)?\//;
const IS_ARN =
  /^arn:aws[a-z-]*:(?:sns:[a-z\d-]+:\d{12}:[\w-]{1,256}(?:\.fifo)?|events:[a-z\d-]+:\d{12}:event-bus\/[\w.-]{1,256})$/;

export const addresses: Suite<HostileAddress> = {
  title: "addresses",
  what: "queue URLs that hide their host by user names, ports, escapes, look-alikes or line breaks, metadata services and loopback, ARNs with one odd part",
  promise:
    "refused before anything is written, or one of AWS's hosts; your own engine only with a configured endpoint",
  inputs,
  judge({ kind, address }) {
    const more = kind === "bus" ? { source: "s", detailType: "d" } : { group: "g" };
    const message = { [kind]: address, key: "k", body: {}, ...more };
    const parsed = parseAddress(kind, address);
    let refusal: unknown;
    try {
      prepareMessage("message", message as never);
    } catch (error) {
      refusal = error;
    }
    hold((parsed === undefined) === (refusal !== undefined), "the parser and the check of a message differ");
    if (parsed === undefined) {
      hold(
        /^(PAYLOAD_INVALID|MESSAGE_ID_INVALID)$/.test(`${(refusal as { code?: string }).code}`),
        `refused by ${String(refusal)}`,
      );
      return "refused";
    }
    const { text, isLocal } = parsed;
    if (kind === "queue") hold(isLocal ? IS_LOCAL.test(text) : IS_AWS.test(text), `taken as ${text}`);
    else hold(IS_ARN.test(text) || (kind === "bus" && /^[\w.-]{1,256}$/.test(text)), `taken as ${text}`);
    return "accepted";
  },
};
