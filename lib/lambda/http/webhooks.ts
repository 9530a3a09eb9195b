/** Keys of webhooks: the provider's own id of an event or delivery, read only after its signature is verified. */
import { createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";
import { type Clock, systemClock } from "../../core/clock.ts";
import { InvalidOptionError, ScopeMissingError } from "../../core/errors.ts";
import { Fingerprint } from "../../core/fingerprint.ts";
import { checkOptions, methods, oneOf, seconds } from "../../core/option-checks.ts";
import type { RequestKey } from "../options.ts";
import { type RawEvent, readHttpEvent } from "./event.ts";
import { targetOf } from "./fingerprint.ts";

/** The senders whose signatures `keyFromWebhook` can verify. `standard-webhooks` includes Svix. */
export type WebhookProvider = "stripe" | "github" | "shopify" | "standard-webhooks";

export interface WebhookOptions {
  /**
   * The signing secret, as the provider shows it. Pass a list while you rotate it: a delivery that any of them signed is
   * accepted. For `standard-webhooks`, also a public key (`whpk_…`).
   */
  readonly secret: string | undefined | readonly (string | undefined)[];
  /**
   * How far the signed time may be from now, in seconds. Only for `stripe` and `standard-webhooks`, which sign a new time
   * with each delivery; the others sign none.
   * @default 300
   */
  readonly toleranceSeconds?: number;
  /** The clock that the signed time is compared with. @default - the system's */
  readonly clock?: Pick<Clock, "now">;
}

/** A delivery, as far as the schemes read it. */
interface Delivery {
  /** All lines of a header, joined with commas. */
  readonly header: (name: string) => string;
  readonly body: Buffer;
}

interface Signed {
  readonly id: string | undefined;
  /** Signed in front of the body. */
  readonly prefix?: string;
  readonly time?: string | undefined;
  readonly signatures: readonly Buffer[];
}

type Scheme = (delivery: Delivery) => Signed;

/** A week: twice the three days for which Stripe and most senders of Standard Webhooks retry. */
const WEBHOOK_RETENTION_SECONDS = 604_800;
const DEFAULT_TOLERANCE_SECONDS = 300;

const SCHEMES: Readonly<Record<WebhookProvider, Scheme>> = {
  /** `t=1,v1=<hex>,v1=<hex>`: one signature for each secret while one is rolled. */
  stripe({ header, body }) {
    const pairs = header("stripe-signature")
      .split(",")
      .map((pair) => pair.trim().split("="));
    const valuesOf = (scheme: string) =>
      pairs.flatMap(([name, value = ""]) => (name === scheme ? value : []));
    const [time, ...others] = valuesOf("t");
    const signatures = others.length > 0 ? [] : valuesOf("v1").map((hex) => Buffer.from(hex, "hex"));
    return { id: stripeIdOf(body), prefix: `${time}.`, time, signatures };
  },
  github: ({ header }) => ({
    id: header("x-github-delivery"),
    signatures: [Buffer.from(header("x-hub-signature-256").replace(/^sha256=/, ""), "hex")],
  }),
  /** Events of several topics can share an id. */
  shopify({ header }) {
    const [topic, event] = [header("x-shopify-topic"), header("x-shopify-event-id")];
    const signatures = [Buffer.from(header("x-shopify-hmac-sha256"), "base64")];
    return { id: topic && event && `${topic}/${event}`, signatures };
  },
  /** `v1,<base64> v1,<base64> v1a,<base64>`. Svix calls the same headers `svix-…`. */
  "standard-webhooks"({ header }) {
    const either = (name: string) => header(`webhook-${name}`) || header(`svix-${name}`);
    const [id, time] = [either("id"), either("timestamp")];
    const found = [...either("signature").matchAll(/(?:^|[\s,])v1a?,([\w+/]+=*)/g)];
    // A dot in the id could shift a part of the body into the signed id.
    const signatures = id.includes(".") ? [] : found.map(([, base64]) => Buffer.from(base64!, "base64"));
    return { id, prefix: `${id}.${time}.`, time, signatures };
  },
};

const SIGNS_TIME: readonly string[] = ["stripe", "standard-webhooks"] satisfies WebhookProvider[];

const CHECKS = {
  secret: ["", () => true],
  toleranceSeconds: seconds(1, WEBHOOK_RETENTION_SECONDS),
  clock: methods("now"),
} as const;

/**
 * Makes the `key` of a webhook: the provider's id of the event or delivery, which is the same in every retry. It's read
 * only if one of your secrets signed the exact bytes of the body, at about the present time where the provider signs a
 * time. Any other request gets 401, so `scope` can be `"public"`.
 *
 * Works for every Lambda event that is an HTTP request, and in every adapter of `onceonly/http`. It also sets the defaults
 * that the provider's retries need: `retentionSeconds` is a week, and for Stripe the `fingerprint` leaves out what changes
 * with each delivery.
 *
 * GitHub and Shopify don't sign their ids: anyone who gets hold of a signed delivery can send it again under another id.
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately, such as for a missing or empty secret, and on requests whose
 * body was already parsed; ScopeMissingError (`SCOPE_MISSING`) for a request that isn't signed.
 */
export function keyFromWebhook(provider: WebhookProvider, options: WebhookOptions): RequestKey {
  const [rule, isKnown, , meant] = oneOf(...Object.keys(SCHEMES));
  if (!isKnown(provider)) throw new InvalidOptionError("provider", rule, provider, meant?.(provider));
  checkOptions(options, CHECKS, ["secret"]);
  const { toleranceSeconds, clock = systemClock } = options;
  if (toleranceSeconds !== undefined && !SIGNS_TIME.includes(provider)) {
    throw new InvalidOptionError("toleranceSeconds", `must be left out, because ${provider} signs no time`);
  }
  const toleranceMs = (toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS) * 1000;
  const checks = secretsOf(options.secret).map(([name, secret]) => verifierOf(provider, name, secret));

  function readWebhookKey(event?: unknown): string | undefined {
    const delivery = deliveryOf(event);
    const { id, prefix = "", time, signatures } = SCHEMES[provider](delivery);
    const content = Buffer.concat([Buffer.from(prefix), delivery.body]);
    if (!checks.some((isSigned) => isSigned(content, signatures))) {
      throw new ScopeMissingError(`the request has no ${provider} signature by any of the given secrets`);
    }
    const isTimely = time !== undefined && Math.abs(clock.now() - Number(time) * 1000) <= toleranceMs;
    if (SIGNS_TIME.includes(provider) && !isTimely) {
      throw new ScopeMissingError(
        `the request was signed more than ${toleranceMs / 1000} seconds ago or ahead: is this host's clock right?`,
      );
    }
    return id || undefined;
  }

  const fingerprint = (event: unknown) =>
    new Fingerprint("webhook", ...targetOf(event as RawEvent), `${stripeIdOf(deliveryOf(event).body)}`);
  return Object.assign(readWebhookKey, {
    isOfEvent: true as const,
    defaults: {
      retentionSeconds: WEBHOOK_RETENTION_SECONDS,
      // `pending_webhooks` in the body differs in each delivery.
      fingerprint: provider === "stripe" ? fingerprint : undefined,
    },
  });
}

/** With the names to use in messages. @throws InvalidOptionError */
function secretsOf(given: WebhookOptions["secret"]): readonly (readonly [name: string, secret: string])[] {
  const secrets = [given]
    .flat()
    .map((secret, index) => [Array.isArray(given) ? `secret[${index}]` : "secret", secret] as const);
  if (secrets.length === 0) throw new InvalidOptionError("secret", "must have at least one secret", given);
  return secrets.map(([name, secret]) => {
    // Anyone can sign with an empty secret.
    if (typeof secret !== "string" || secret === "" || /^\s|\s$/.test(secret)) {
      throw new InvalidOptionError(name, "must be a non-empty string without spaces around it", secret);
    }
    return [name, secret];
  });
}

/** Whether one of the signatures is right. */
type Verifier = (content: Buffer, signatures: readonly Buffer[]) => boolean;

/** More than any provider sends while secrets are rotated. Anyone can send a request with thousands of signatures. */
const MAX_SIGNATURES = 16;

/** @throws InvalidOptionError for a secret that the provider can't have issued. */
function verifierOf(provider: WebhookProvider, name: string, secret: string): Verifier {
  if (provider !== "standard-webhooks") return hmacVerifier(secret);
  const [, kind = "whsec_", base64 = ""] = /^(whsec_|whpk_)?([a-z\d+/]+=*)$/i.exec(secret) ?? [];
  const key = Buffer.from(base64, "base64");
  if (kind === "whsec_" && key.length >= 16) return hmacVerifier(key);
  if (kind === "whpk_" && key.length === 32) {
    const jwk = { kty: "OKP", crv: "Ed25519", x: key.toString("base64url") };
    const publicKey = createPublicKey({ key: jwk, format: "jwk" });
    return (content, signatures) =>
      ofLength(64, signatures).some((signature) => verify(null, content, publicKey, signature));
  }
  const rule =
    "must be a secret (`whsec_` and at least 16 bytes in base64) or a public key (`whpk_` and 32 bytes)";
  throw new InvalidOptionError(name, rule, secret);
}

function hmacVerifier(secret: string | Buffer): Verifier {
  return (content, signatures) => {
    const possible = ofLength(32, signatures);
    if (possible.length === 0) return false;
    const expected = createHmac("sha256", secret).update(content).digest();
    return possible.some((signature) => timingSafeEqual(signature, expected));
  };
}

function ofLength(bytes: number, signatures: readonly Buffer[]): readonly Buffer[] {
  return signatures.filter(({ length }) => length === bytes).slice(0, MAX_SIGNATURES);
}

/** @throws InvalidOptionError for a body that was parsed: its bytes are what was signed. */
function deliveryOf(event: unknown): Delivery {
  const { body, isBase64Encoded } = event as RawEvent;
  if (typeof (body ?? "") !== "string") {
    throw new InvalidOptionError("key", "needs the body as it was sent: use onceonly before the body parser");
  }
  const { headers } = readHttpEvent(event);
  return {
    header: (name) => headers(name).join(),
    body: Buffer.from(`${body ?? ""}`, isBase64Encoded ? "base64" : "utf8"),
  };
}

/** The event's own id, in snapshot events and in thin ones. The body is signed, so it is Stripe's JSON. */
function stripeIdOf(body: Buffer): string | undefined {
  try {
    const { id } = JSON.parse(body.toString()) as { readonly id?: unknown };
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}
