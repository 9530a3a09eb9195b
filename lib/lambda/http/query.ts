/** The query of a request, the same whichever way it came. */
import type { RawEvent } from "./event.ts";

/**
 * Sorted by name, since a map has no order of names; the values of one name in theirs. Encoded anew: payload v2 has what was
 * sent, REST APIs decode it (`+` is a space), and ALB takes it apart without decoding.
 */
export function canonicalQuery(raw: RawEvent): string {
  const { rawQueryString, multiValueQueryStringParameters, queryStringParameters, requestContext } = raw;
  if (rawQueryString === "") return "";
  let query: URLSearchParams;
  if (rawQueryString === undefined) {
    const values = Object.entries(multiValueQueryStringParameters ?? queryStringParameters ?? {});
    const pairs = values.flatMap(([name, each]) =>
      [each].flat().map((value): [string, string] => [name, value ?? ""]),
    );
    const undecoded = () => `?${pairs.map((pair) => pair.join("=")).join("&")}`;
    query = new URLSearchParams(requestContext?.elb ? undecoded() : pairs);
  } else {
    // One question mark is taken off: the query's own first one, if it has any, stays.
    query = new URLSearchParams(`?${rawQueryString}`);
  }
  query.sort();
  return query.toString();
}
