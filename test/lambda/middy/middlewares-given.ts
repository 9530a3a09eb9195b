// Eight middlewares of Middy's own, each in the version of the Middy that runs them.
import type middy6 from "@middy/core";
import { loadMiddy } from "../../kit/middies.ts";

type Make = (options?: object) => middy6.MiddlewareObj;

const MAKERS = {
  "body parser": ["http-json-body-parser", {}],
  serializer: [
    "http-response-serializer",
    {
      serializers: [{ regex: /json$/, serializer: ({ body }: { body: unknown }) => JSON.stringify(body) }],
      defaultContentType: "application/json",
    },
  ],
  "error handler": ["http-error-handler", { logger: false }],
  CORS: ["http-cors", { origin: "https://example.com" }],
  "security headers": ["http-security-headers", {}],
  "header normalizer": ["http-header-normalizer", {}],
  "event normalizer": ["http-event-normalizer", {}],
  logger: ["input-output-logger", { logger: () => {} }],
} as const;

export type RealName = keyof typeof MAKERS;
export const REAL_NAMES = Object.keys(MAKERS) as readonly RealName[];

/** What loads them: one object of each is used by every stack. */
export async function realMiddlewares(
  major: 6 | 7,
): Promise<Readonly<Record<RealName, middy6.MiddlewareObj>>> {
  const made = Object.entries(MAKERS).map(async ([name, [packageName, options]]) => {
    const make = await loadMiddy<Make>(packageName, major);
    return [name, make(options)] as const;
  });
  return Object.fromEntries(await Promise.all(made)) as Record<RealName, middy6.MiddlewareObj>;
}
