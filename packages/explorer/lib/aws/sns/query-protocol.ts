/**
 * SNS's AWS query protocol: the request is a form, the answer XML.
 * https://smithy.io/2.0/aws/protocols/aws-query-protocol.html
 */
import { SnsError } from "./sns-error.ts";

export interface QueryRequest {
  readonly operation: string;
  readonly input: object;
}

export interface QueryAnswer {
  readonly statusCode: number;
  readonly body: string;
}

type Node = { [name: string]: Node | string };

const NAMESPACE = "http://sns.amazonaws.com/doc/2010-03-31/";

/** Binary values are bytes in the input. */
export function readQueryRequest(body: string): QueryRequest {
  const root: Node = {};
  for (const [path, value] of new URLSearchParams(body)) put(root, path.split("."), value);
  const { Action, Version: _, ...input } = root;
  return { operation: String(Action), input: shaped(input) as object };
}

export function queryAnswer(operation: string, output: object, requestId: string): QueryAnswer {
  const result = `<${operation}Result>${xmlOf(output)}</${operation}Result>`;
  const metadata = `<ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata>`;
  const body = `<${operation}Response xmlns="${NAMESPACE}">${result}${metadata}</${operation}Response>`;
  return { statusCode: 200, body };
}

/** Any other error counts as a server error, which the SDK may retry. */
export function queryError(error: unknown, requestId: string): QueryAnswer {
  const known = error instanceof SnsError;
  const code = known ? error.code : "InternalError";
  return refusal(code, known ? error.statusCode : 500, known ? error.message : String(error), requestId);
}

export function refusal(code: string, statusCode: number, message: string, requestId: string): QueryAnswer {
  const type = statusCode < 500 ? "Sender" : "Receiver";
  const error = xmlOf({ Error: { Type: type, Code: code, Message: message }, RequestId: requestId });
  return { statusCode, body: `<ErrorResponse xmlns="${NAMESPACE}">${error}</ErrorResponse>` };
}

function put(node: Node, [name = "", ...rest]: string[], value: string): void {
  if (rest.length === 0) {
    node[name] = value;
    return;
  }
  node[name] ??= {};
  put(node[name] as Node, rest, value);
}

/**
 * Lists are `member.1`, maps `entry.1.key` and `entry.1.value`; maps of attributes have `Name` and `Value`
 * instead.
 */
function shaped(node: Node | string): unknown {
  if (typeof node === "string") return node;
  const { member, entry } = node;
  if (typeof member === "object") return Object.values(member).map(shaped);
  if (typeof entry === "object") {
    const pairs = Object.values(entry).map((each) => Object(each) as Node);
    return Object.fromEntries(
      pairs.map(({ key, value, Name, Value }) => [String(key ?? Name), shaped(value ?? Value ?? "")]),
    );
  }
  return Object.fromEntries(
    Object.entries(node).map(([name, each]) => [
      name,
      name === "BinaryValue" ? new Uint8Array(Buffer.from(String(each), "base64")) : shaped(each),
    ]),
  );
}

function xmlOf(value: unknown): string {
  if (Array.isArray(value)) return value.map((each) => `<member>${xmlOf(each)}</member>`).join("");
  if (typeof value !== "object" || value === null) return escaped(String(value));
  return Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => `<${name}>${name === "Attributes" ? xmlMap(each) : xmlOf(each)}</${name}>`)
    .join("");
}

function xmlMap(map: object): string {
  return Object.entries(map)
    .map(([key, value]) => `<entry>${xmlOf({ key, value })}</entry>`)
    .join("");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
