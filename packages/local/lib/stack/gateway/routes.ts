// Finds the HTTP API route for a request: the most specific one, a full match before a greedy one, and
// $default last. Pure.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html

export interface RouteMatch {
  readonly routeKey: string;
  /** Decoded; `undefined` if the route has none. */
  readonly pathParameters: Record<string, string> | undefined;
}

const VARIABLE = /^\{([^{}+]+)(\+?)\}$/;

/** @param path still percent-encoded, without the stage */
export function matchRoute(
  routeKeys: Iterable<string>,
  method: string,
  path: string,
): RouteMatch | undefined {
  const segments = segmentsOf(path);
  let best: { match: RouteMatch; rank: string } | undefined;
  for (const routeKey of routeKeys) {
    const candidate = matchOne(routeKey, method, segments);
    if (candidate && (!best || candidate.rank < best.rank)) best = candidate;
  }
  return best?.match;
}

function matchOne(
  routeKey: string,
  method: string,
  segments: readonly string[],
): { match: RouteMatch; rank: string } | undefined {
  if (routeKey === "$default") return { match: { routeKey, pathParameters: undefined }, rank: "default" };
  const [routeMethod, routePath = "/"] = routeKey.split(" ");
  if (routeMethod !== "ANY" && routeMethod !== method) return undefined;
  const pattern = segmentsOf(routePath);
  const parameters: [string, string][] = [];
  // Compared as text: a literal segment ("a") beats a variable ("b"), which beats a greedy one ("c").
  let rank = "";
  for (const [index, part] of pattern.entries()) {
    const [, name, greedy] = VARIABLE.exec(part) ?? [];
    const segment = segments[index];
    if (!segment && part !== segment) return undefined;
    if (name === undefined || segment === undefined) {
      if (part !== segment) return undefined;
      rank += "a";
      continue;
    }
    parameters.push([name, decode(greedy ? segments.slice(index).join("/") : segment)]);
    rank += greedy ? "c" : "b";
  }
  const isGreedy = rank.endsWith("c");
  if (!isGreedy && pattern.length !== segments.length) return undefined;
  return {
    match: { routeKey, pathParameters: parameters.length > 0 ? Object.fromEntries(parameters) : undefined },
    rank: (isGreedy ? "b" : "a") + rank + (routeMethod === "ANY" ? "b" : "a"),
  };
}

function segmentsOf(path: string): string[] {
  return path.replace(/^\//, "").split("/");
}

/** A malformed escape stays as it was sent. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
