/** The path of a request, the same whichever way it came: each service writes another one. */
import { isFunctionUrl, type RawEvent } from "./event.ts";

/**
 * The whole path, decoded. HTTP APIs have decoded it already, the others leave it as it was sent.
 * `%2F` and `/` cannot be told apart behind an HTTP API, and so are not elsewhere.
 */
export function wholePath(raw: RawEvent): string {
  const path = raw.rawPath ?? raw.path ?? "";
  const isHttpApi = raw.version !== undefined && !isFunctionUrl(raw);
  return isHttpApi ? path : decoded(path);
}

/**
 * The path below the API: without the stage, which HTTP APIs keep in front of it, and without the base path of a custom
 * domain, which REST APIs do. Where the route says what it matched, that is it; else only the stage is known.
 */
export function routePath(raw: RawEvent): string {
  const path = wholePath(raw);
  const route = filledRoute(raw);
  if (route !== undefined) {
    const matched = [route, decoded(route)].find((each) => path.endsWith(each));
    if (matched !== undefined) return matched;
  }
  const stage = `/${raw.requestContext?.stage}`;
  if (path !== stage && !path.startsWith(`${stage}/`)) return path;
  return path.slice(stage.length) || "/";
}

/** The template of the route, such as `/orders/{id}`, with what stood in its places. */
function filledRoute({ routeKey, resource, pathParameters }: RawEvent): string | undefined {
  const template = resource ?? routeKey?.slice(routeKey.indexOf(" ") + 1);
  if (!template?.startsWith("/")) return undefined;
  let isFilled = true;
  const route = template.replace(/\{([^}+]+)\+?\}/g, (_, name: string) => {
    const value = pathParameters?.[name];
    if (value === undefined) isFilled = false;
    return value ?? "";
  });
  return isFilled ? route : undefined;
}

function decoded(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}
