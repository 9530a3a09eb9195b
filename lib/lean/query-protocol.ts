/**
 * SNS's protocol: the request is a form, the answer XML.
 * https://smithy.io/2.0/aws/protocols/aws-query-protocol.html
 */
import { type HttpAnswer, ServiceError, UnreadableAnswerError } from "../dynamodb/wire/json.ts";

export function encodeQuery(operation: string, version: string, input: object): string {
  const form = new URLSearchParams({ Action: operation, Version: version });
  put(form, "", input);
  return form.toString();
}

function put(form: URLSearchParams, path: string, value: unknown, name = ""): void {
  if (value === undefined) return;
  if (typeof value !== "object" || value === null) form.append(path, String(value));
  else if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) put(form, `${path}.member.${index + 1}`, each);
  } else if (name === "MessageAttributes") {
    for (const [index, [Name, Value]] of Object.entries(value).entries()) {
      put(form, `${path}.entry.${index + 1}`, { Name, Value });
    }
  } else {
    for (const [key, each] of Object.entries(value)) put(form, path ? `${path}.${key}` : key, each, key);
  }
}

type QueryFields = Readonly<Record<string, string>>;

/**
 * @returns the answer to a batch
 * @throws ServiceError, UnreadableAnswerError
 */
export function readQueryAnswer({ statusCode, headers, body }: HttpAnswer, operation: string) {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  if (statusCode === 200) {
    // A truncated answer doesn't say reliably what was accepted.
    if (!text.includes(`</${operation}Response>`)) {
      throw new UnreadableAnswerError(`it isn't a response to ${operation}`, statusCode);
    }
    const Failed = membersOf(text, "Failed").map((fields) => ({
      ...fields,
      SenderFault: fields.SenderFault === "true",
    }));
    return { Successful: membersOf(text, "Successful"), Failed };
  }
  if (statusCode < 300) throw new UnreadableAnswerError("it has no result", statusCode);
  // A gateway in between answers without a code.
  const { Code = "UnknownError", Message = Code } = fieldsOf(text);
  const requestId = headers["x-amzn-requestid"];
  throw new ServiceError(Code, Message, {
    httpStatusCode: statusCode,
    ...(requestId !== undefined && { requestId: `${requestId}` }),
  });
}

function membersOf(text: string, list: string): readonly QueryFields[] {
  const [, inner = ""] = new RegExp(`<${list}>(.*?)</${list}>`, "s").exec(text) ?? [];
  return [...inner.matchAll(/<member>(.*?)<\/member>/gs)].map(([, member = ""]) => fieldsOf(member));
}

/** The elements that contain no other elements. */
function fieldsOf(xml: string): QueryFields {
  const found = xml.matchAll(/<(\w+)>([^<]*)<\/\1>/g);
  return Object.fromEntries([...found].map(([, name, text = ""]) => [name, unescaped(text)]));
}

const ENTITIES: QueryFields = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => ENTITIES[name]!);
}
