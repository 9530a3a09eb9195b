/** DynamoDB's requests and answers as JSON, with the bytes of `B` and `BS` as base64; and the service's time from an answer. */
import { crc32 } from "node:zlib";
import { withoutStack } from "./without-stack.ts";

export function encodeInput(input: object): string {
  return JSON.stringify(withTexts(input));
}

/** Parsed separately for each caller, so it can be changed in place. */
export function decodeOutput(text: string): unknown {
  const output: unknown = JSON.parse(text);
  putBytes(output);
  return output;
}

/** Copies only the parts that contain bytes: most requests have none and stay unchanged. */
function withTexts(value: object): object | string {
  const bytes = bytesOf(value);
  if (bytes) return bytes.toString("base64");
  let copy: Record<string, unknown> | undefined;
  // Avoids the arrays of Object.entries: this walks every request completely.
  for (const name in value) {
    const inner: unknown = (value as Record<string, unknown>)[name];
    if (typeof inner !== "object" || inner === null) continue;
    const encoded = withTexts(inner);
    if (encoded === inner) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[name] = encoded;
  }
  return copy ?? value;
}

function bytesOf(value: object): Buffer | undefined {
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer ? Buffer.from(value) : undefined;
}

/** Only values of these types have a string, or strings, under these names: attributes with such names hold objects. */
function putBytes(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const attribute = value as { B?: unknown; BS?: unknown };
  if (typeof attribute.B === "string") attribute.B = toBytes(attribute.B);
  else if (Array.isArray(attribute.BS) && attribute.BS.every((each) => typeof each === "string")) {
    attribute.BS = attribute.BS.map(toBytes);
  } else for (const inner of Object.values(value)) putBytes(inner);
}

function toBytes(base64: string): Uint8Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(base64, "base64");
  return new Uint8Array(buffer, byteOffset, byteLength);
}

export interface HttpAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

interface ErrorBody {
  readonly __type?: string;
  readonly code?: string | number;
  readonly message?: string;
  readonly Message?: string;
  readonly Item?: unknown;
  readonly CancellationReasons?: unknown;
}

/** The request may have been carried out all the same. The error's name makes it retryable. */
export class UnreadableAnswerError extends Error {
  override readonly name = "UnreadableAnswerError";
  readonly $metadata: { readonly httpStatusCode: number };

  constructor(why: string, httpStatusCode: number) {
    super(`the response doesn't come from the service: ${why}; the status is ${httpStatusCode}`);
    this.$metadata = { httpStatusCode };
  }
}

/** The service refused the request and gave a reason. */
export class ServiceError extends Error {
  readonly $fault: "client" | "server";
  readonly $metadata: { readonly httpStatusCode: number; readonly requestId?: string };

  constructor(name: string, message: string, $metadata: ServiceError["$metadata"]) {
    super(message);
    this.name = name;
    this.$fault = $metadata.httpStatusCode < 500 ? "client" : "server";
    this.$metadata = $metadata;
  }
}

/** The last date read: all answers within a second carry the same one. */
let [lastDate, lastTime]: [HttpAnswer["headers"][string], number | undefined] = [undefined, undefined];

/** Epoch ms; `undefined` if the answer has no date. */
function serverTimeOf({ headers: { date } }: HttpAnswer): number | undefined {
  if (date !== lastDate) [lastDate, lastTime] = [date, Date.parse(`${date}`) || undefined];
  return lastTime;
}

/** @throws ServiceError, UnreadableAnswerError */
export function readAnswer(answer: HttpAnswer): object {
  const { statusCode, headers, body } = answer;
  const checksum = headers["x-amz-crc32"];
  if (checksum !== undefined && Number(checksum) !== crc32(body)) {
    throw new UnreadableAnswerError("its checksum doesn't match", statusCode);
  }
  const output = readObject(body);
  if (statusCode === 200 && output) return { ...output, serverTimeMs: serverTimeOf(answer) };
  if (statusCode < 300) throw new UnreadableAnswerError("it isn't a JSON object", statusCode);
  const { __type, code, message, Message, Item, CancellationReasons } = (output ?? {}) as ErrorBody;
  // A gateway in between answers without a type.
  const type = `${__type ?? code ?? headers["x-amzn-errortype"] ?? "UnknownError"}`;
  const name = type.split(/[:,]/)[0]!.split("#").at(-1)!;
  const requestId = headers["x-amzn-requestid"];
  const make = () =>
    new ServiceError(name, message ?? Message ?? name, {
      httpStatusCode: statusCode,
      ...(requestId !== undefined && { requestId: `${requestId}` }),
    });
  throw Object.assign(
    Item ? withoutStack(make) : make(),
    Item && { Item },
    CancellationReasons && { CancellationReasons },
  );
}

/** @returns `undefined` for anything but a JSON object */
export function readObject(body: Uint8Array): object | undefined {
  try {
    const output = decodeOutput(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
    return typeof output === "object" && output !== null && !Array.isArray(output) ? output : undefined;
  } catch {
    return undefined;
  }
}

/** With a larger offset from the service's time, a signature is close to being refused. */
export const NOTABLE_SKEW_MS = 240_000;

/** HTTP dates have whole seconds. */
const PRECISION_MS = 1000;

/**
 * How far the clock is behind (ms), according to an answer to a request sent at `sentAt`; `undefined` if the answer doesn't say.
 * The service read its time somewhere between the sending and `now`: a process that stood still in between doesn't have a wrong
 * clock.
 */
export function clockOffsetOf(answer: HttpAnswer, sentAt: number, now: number): number | undefined {
  const serverTimeMs = serverTimeOf(answer);
  // A cached answer carries an old time.
  if (serverTimeMs === undefined || answer.headers.age !== undefined) return undefined;
  const tooEarly = serverTimeMs + PRECISION_MS - sentAt;
  return tooEarly < 0 ? tooEarly : Math.max(0, serverTimeMs - now);
}
