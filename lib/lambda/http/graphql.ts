/** GraphQL over HTTP: only mutations are executions, and an answer of 200 with errors isn't final. */
import type { HttpRequestEvent } from "../options.ts";
import { withoutEncoding } from "./encodings.ts";
import { type RawEvent, readHttpEvent } from "./event.ts";
import { type HttpResponse, isFinalResponse } from "./response.ts";

interface GraphqlRequest {
  readonly query?: unknown;
  readonly operationName?: unknown;
}

interface Operation {
  readonly kind: string;
  readonly name: string | undefined;
}

/**
 * Options for GraphQL over HTTP: `httpIdempotent(handler, { ...options, ...graphqlOverHttp })`. Queries and subscriptions
 * run without a key and without a record. A mutation needs a key, and so does any request whose body doesn't show its
 * operation, such as a persisted one. A response with `errors` and no data isn't kept, although its status is 200, so a
 * retry runs again: unless the mutation committed something or finished a step. With data in any root field, a mutation has
 * succeeded, so the response is kept.
 */
export const graphqlOverHttp = {
  skip: (event: HttpRequestEvent): boolean => {
    const requests = requestsOf(event);
    return requests.length > 0 && requests.every(isReading);
  },
  shouldStore: (response: unknown): boolean => isFinalResponse(response) && !hasFailed(response),
};

/** Other content, such as a bare document or a form, is read in another way. */
const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i;

/** None if the server might read another document than the one in the body. */
function requestsOf(event: HttpRequestEvent): readonly GraphqlRequest[] {
  const { rawQueryString, queryStringParameters, multiValueQueryStringParameters } = event as RawEvent;
  const names = [
    ...new URLSearchParams(rawQueryString).keys(),
    ...Object.keys({ ...queryStringParameters, ...multiValueQueryStringParameters }),
  ];
  // Some servers prefer the address's document to the body's.
  if (names.some(isOfDocument)) return [];
  const types = readHttpEvent(event).headers("content-type");
  if (types.length !== 1 || !JSON_TYPE.test(`${types[0]}`)) return [];
  const { body, isBase64Encoded } = event;
  const parsed = parsedJson(Buffer.from(`${body ?? ""}`, isBase64Encoded ? "base64" : "utf8").toString());
  return [parsed].flat().map((request) => Object(request) as GraphqlRequest);
}

function isOfDocument(name: string): boolean {
  try {
    return /^(query|operationName|extensions)$/.test(decodeURIComponent(name));
  } catch {
    return true;
  }
}

function isReading({ query, operationName }: GraphqlRequest): boolean {
  const operations = typeof query === "string" ? operationsOf(query) : [];
  const chosen = operations.filter(({ name }) => operationName == null || name === operationName);
  return chosen.length === 1 && chosen[0]?.kind !== "mutation";
}

/** Comments and strings, which may contain anything. */
const OPAQUE = /#[^\n\r]*|"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n\r])*"/g;

/** None if the document isn't one that can be executed. */
function operationsOf(document: string): readonly Operation[] {
  const tokens = document.replace(OPAQUE, " ").match(/\w+|[^\s,\uFEFF]/g) ?? [];
  const operations: Operation[] = [];
  let depth = 0;
  let kind: string | undefined;
  let isSelecting = false;
  for (const [at, token] of tokens.entries()) {
    if (kind === undefined) {
      if (!/^(query|mutation|subscription|fragment|\{)$/.test(token)) return [];
      kind = token === "{" ? "query" : token;
      const name = tokens[at + 1];
      if (kind !== "fragment") {
        operations.push({ kind, name: token !== "{" && /^\w/.test(`${name}`) ? name : undefined });
      }
    }
    if (token === "{" && depth === 0) isSelecting = true;
    if (/[{([]/.test(token)) depth++;
    if (/[})\]]/.test(token)) depth--;
    if (depth < 0) return [];
    if (depth === 0 && isSelecting) {
      isSelecting = false;
      kind = undefined;
    }
  }
  return depth === 0 && kind === undefined ? operations : [];
}

/** Whether there are errors, and no mutation succeeded: GraphQL's answer has no data then, or only `null`. */
function hasFailed(response: unknown): boolean {
  const isResponse = Object(response) === response && "statusCode" in (response as object);
  const { body, isBase64Encoded } = isResponse
    ? withoutEncoding(response as HttpResponse)
    : { body: response };
  const content =
    typeof body === "string"
      ? parsedJson(isBase64Encoded ? Buffer.from(body, "base64").toString() : body)
      : body;
  const answers = [content].flat().map((each) => Object(each) as { errors?: unknown; data?: unknown });
  const hasErrors = answers.some(({ errors }) => Array.isArray(errors) && errors.length > 0);
  const hasData = answers.some(({ data }) => Object.values(Object(data)).some((field) => field !== null));
  return hasErrors && !hasData;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
