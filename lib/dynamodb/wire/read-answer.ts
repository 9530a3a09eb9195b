/** Reads what DynamoDB answers: an output with the database's time, or an error as the SDK makes them. */
import { crc32 } from "node:zlib";
import { decodeOutput } from "./json-values.ts";

export interface HttpAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

interface ErrorBody {
  readonly __type?: string;
  readonly message?: string;
  readonly Message?: string;
  readonly Item?: unknown;
  readonly CancellationReasons?: unknown;
}

/** The request may have been done all the same. Its name makes it worth another try. */
class UnreadableAnswerError extends Error {
  override readonly name = "UnreadableAnswerError";
  readonly $metadata: { readonly httpStatusCode: number };

  constructor(why: string, httpStatusCode: number) {
    super(`what was answered is not of DynamoDB: ${why}; the status is ${httpStatusCode}`);
    this.$metadata = { httpStatusCode };
  }
}

/** DynamoDB has refused, and says why. */
class ServiceError extends Error {
  readonly $fault: "client" | "server";
  readonly $metadata: { readonly httpStatusCode: number; readonly requestId?: string };

  constructor(name: string, message: string, $metadata: ServiceError["$metadata"]) {
    super(message);
    this.name = name;
    this.$fault = $metadata.httpStatusCode < 500 ? "client" : "server";
    this.$metadata = $metadata;
  }
}

/** The date that was read last: all answers of a second have the same. */
let [lastDate, lastTime]: [HttpAnswer["headers"][string], number | undefined] = [undefined, undefined];

/** Epoch ms; `undefined` where the answer does not tell it. */
export function serverTimeOf({ headers: { date } }: HttpAnswer): number | undefined {
  if (date !== lastDate) [lastDate, lastTime] = [date, Date.parse(`${date}`) || undefined];
  return lastTime;
}

/** @throws ServiceError, UnreadableAnswerError */
export function readAnswer(answer: HttpAnswer): object {
  const { statusCode, headers, body } = answer;
  const checksum = headers["x-amz-crc32"];
  if (checksum !== undefined && Number(checksum) !== crc32(body)) {
    throw new UnreadableAnswerError("its checksum is another", statusCode);
  }
  const output = parse(body);
  if (statusCode === 200 && output) return { ...output, serverTimeMs: serverTimeOf(answer) };
  if (statusCode < 300) throw new UnreadableAnswerError("it is no JSON object", statusCode);
  const { __type, message, Message, Item, CancellationReasons } = (output ?? {}) as ErrorBody;
  // A gateway on the way answers without a type.
  const type = __type ?? `${headers["x-amzn-errortype"] ?? "UnknownError"}`;
  const name = type.split(/[:,]/)[0]!.replace(/.*#/, "");
  const requestId = headers["x-amzn-requestid"];
  throw Object.assign(
    new ServiceError(name, message ?? Message ?? name, {
      httpStatusCode: statusCode,
      ...(requestId !== undefined && { requestId: `${requestId}` }),
    }),
    Item && { Item },
    CancellationReasons && { CancellationReasons },
  );
}

function parse(body: Uint8Array): object | undefined {
  try {
    const output = decodeOutput(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
    return typeof output === "object" && output !== null && !Array.isArray(output) ? output : undefined;
  } catch {
    return undefined;
  }
}
