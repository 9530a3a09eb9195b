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
  /** At the root. A fragment counts as two, because it may have any number. */
  readonly fields: number;
}

interface GraphqlAnswer {
  readonly data?: unknown;
  readonly errors?: unknown;
}

/**
 * Options for GraphQL over HTTP: `httpIdempotent(handler, { ...options, ...graphqlOverHttp })`. Queries and subscriptions
 * run without a key and without a record. A mutation needs a key, and so does any request whose body doesn't show its
 * operation, such as a persisted one. A response that says that every mutation failed isn't kept, although its status is 200,
 * so a retry runs again: unless something was committed or a step finished. The response is kept if a mutation may have
 * succeeded: a root field has data, the error is in a field below it, or the error of one root field has nulled the data of all.
 */
export const graphqlOverHttp = {
  skip: (event: HttpRequestEvent): boolean => {
    const requests = requestsOf(event);
    return requests.length > 0 && requests.every(isReading);
  },
  shouldStore: (response: unknown, event?: HttpRequestEvent): boolean =>
    isFinalResponse(response) && !hasFailed(response, event),
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
  // A body parser may have run before.
  const isParsed = Object(body) === body;
  const text = () => Buffer.from(`${body ?? ""}`, isBase64Encoded ? "base64" : "utf8").toString();
  const parsed: unknown = isParsed ? body : parsedJson(text());
  return [parsed].flat().map((request) => Object(request) as GraphqlRequest);
}

function isOfDocument(name: string): boolean {
  try {
    return /^(query|operationName|extensions)$/.test(decodeURIComponent(name));
  } catch {
    return true;
  }
}

function isReading(request: GraphqlRequest): boolean {
  const chosen = operationOf(request);
  return chosen !== undefined && chosen.kind !== "mutation";
}

function operationOf({ query, operationName }: GraphqlRequest): Operation | undefined {
  const operations = typeof query === "string" ? operationsOf(query) : [];
  const chosen = operations.filter(({ name }) => operationName == null || name === operationName);
  return chosen.length === 1 ? chosen[0] : undefined;
}

/** Comments and strings, which may contain anything. */
const OPAQUE = /#[^\n\r]*|"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n\r])*"/g;

/** None if the document isn't one that can be executed. */
function operationsOf(document: string): readonly Operation[] {
  const definitions = definitionsOf(document.replace(OPAQUE, " ").match(/\w+|[^\s,\uFEFF]/g) ?? []);
  const areKnown = definitions.every(([first]) =>
    /^(query|mutation|subscription|fragment|\{)$/.test(`${first?.text}`),
  );
  return areKnown ? definitions.filter(([first]) => first?.text !== "fragment").map(operationIn) : [];
}

/** A token, and how many brackets are open around it. */
interface Token {
  readonly text: string;
  readonly depth: number;
}

/** Each ends with its selection. None if a bracket lacks its other one. */
function definitionsOf(texts: readonly string[]): readonly (readonly Token[])[] {
  const definitions: Token[][] = [];
  let tokens: Token[] = [];
  let depth = 0;
  for (const text of texts) {
    if (/[})\]]/.test(text)) depth--;
    if (depth < 0) return [];
    tokens.push({ text, depth });
    if (/[{([]/.test(text)) depth++;
    if (text !== "}" || depth > 0) continue;
    definitions.push(tokens);
    tokens = [];
  }
  return tokens.length === 0 ? definitions : [];
}

function operationIn(tokens: readonly Token[]): Operation {
  const [{ text: first }, { text: second = "" }] = tokens as unknown as readonly [Token, Token];
  const selection = tokens.slice(tokens.findIndex(({ text, depth }) => text === "{" && depth === 0));
  const fields = selection.map(({ text, depth }, at) =>
    depth === 1 ? fieldsIn(text, selection[at - 1]?.text) : 0,
  );
  return {
    kind: first === "{" ? "query" : first,
    name: first !== "{" && /^\w/.test(second) ? second : undefined,
    fields: fields.reduce((sum, each) => sum + each, 0),
  };
}

/** An alias counts, the name behind it doesn't, and neither do directives. */
function fieldsIn(token: string, previous: string | undefined): number {
  if (token === ".") return 2;
  return /^\w/.test(token) && previous !== ":" && previous !== "@" ? 1 : 0;
}

/** Whether there are errors, and no mutation can have succeeded. */
function hasFailed(response: unknown, event: HttpRequestEvent | undefined): boolean {
  const isResponse = Object(response) === response && "statusCode" in (response as object);
  const { body, isBase64Encoded } = isResponse
    ? withoutEncoding(response as HttpResponse)
    : { body: response };
  const content =
    typeof body === "string"
      ? parsedJson(isBase64Encoded ? Buffer.from(body, "base64").toString() : body)
      : body;
  const answers = [content].flat().map((each) => Object(each) as GraphqlAnswer);
  if (!answers.some((answer) => pathsOf(answer).length > 0)) return false;
  return !answers.some((answer) => maySucceed(answer) || (hidesOthers(answer) && !isSingle(event)));
}

/** The path of each error; empty for one that isn't in a field. */
function pathsOf({ errors }: GraphqlAnswer): readonly (readonly unknown[])[] {
  return Array.isArray(errors) ? errors.map((error) => [Object(error).path ?? []].flat()) : [];
}

/** A resolver at the root returned, whatever happened to the fields of its result. */
function maySucceed(answer: GraphqlAnswer): boolean {
  const paths = pathsOf(answer);
  if (paths.some((path) => path.length > 1)) return true;
  const hasFailedAt = (field: string) => paths.some(([first = field]) => first === field);
  return Object.entries(Object(answer.data)).some(([field, value]) => value !== null || !hasFailedAt(field));
}

/** An error in a non-null field at the root nulls `data`, and so hides the fields that ran before it. */
const hidesOthers = (answer: GraphqlAnswer): boolean =>
  answer.data === null && pathsOf(answer).some((path) => path.length > 0);

function isSingle(event: HttpRequestEvent | undefined): boolean {
  const requests = event ? requestsOf(event) : [];
  return requests.length === 1 && operationOf(requests[0] as GraphqlRequest)?.fields === 1;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
