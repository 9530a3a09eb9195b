/** The form of the small services, which answer requests in their own protocols. */
import { acrossCopies } from "../across-copies.ts";

/** A request of a client, as it goes over HTTP. */
export interface AwsHttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The answer to a request, as it goes over HTTP. */
export interface AwsHttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Whether clients of the SDK read the body as a stream. */
  readonly isStreamed?: boolean;
}

/** The operation that a request names. */
export interface AwsHttpCall {
  readonly operation: string;
  /** The name of the parameter, secret or bucket. */
  readonly target: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** @throws AwsHttpError */
  run(): AwsHttpAnswer;
}

export interface AwsHttpService {
  /** The error of a throttled request. */
  readonly throttling: { readonly code: string; readonly status: number };
  /** `undefined` for an operation that the service does not have. */
  read(request: AwsHttpRequest): AwsHttpCall | undefined;
  /** The answer that the caller reads as this error. */
  refusal(code: string, status: number, message: string): AwsHttpAnswer;
}

export class AwsHttpError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}
acrossCopies(AwsHttpError, "AwsHttpError");

type JsonInput = Readonly<Record<string, unknown>>;

const JSON_TYPE = { "content-type": "application/x-amz-json-1.1" };

/** A service with AWS's JSON protocol: the operation stands in a header, input and output are JSON. */
export function jsonService(
  operations: Readonly<Record<string, (input: JsonInput) => object>>,
  targetOf: (input: JsonInput) => string,
): AwsHttpService {
  return {
    throttling: { code: "ThrottlingException", status: 400 },
    read({ headers, body }) {
      const operation = headers.get("x-amz-target")?.split(".").at(-1) ?? "";
      const work = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
      if (work === undefined) return undefined;
      const input = JSON.parse(new TextDecoder().decode(body) || "{}") as JsonInput;
      const run = () => ({ status: 200, headers: JSON_TYPE, body: JSON.stringify(work(input)) });
      return { operation, target: targetOf(input), input, run };
    },
    refusal: (code, status, message) => ({
      status,
      headers: JSON_TYPE,
      body: JSON.stringify({ __type: code, message }),
    }),
  };
}
