/** What a Node server imports: the HTTP face for the Fetch API, Hono, Express and Fastify. */

export { keepBody } from "./body.ts";
export { executionOf } from "./current.ts";
export { expressIdempotency } from "./express.ts";
export {
  type FastifyHooks,
  type FastifyReplyLike,
  type FastifyRequestLike,
  fastifyIdempotency,
} from "./fastify.ts";
export { type FetchNext, fetchIdempotency, type HonoContextLike, honoIdempotency } from "./fetch.ts";
export { type NestContextLike, type NestInterceptorLike, nestIdempotency } from "./nest.ts";
export type { FetchServerOptions, ServerOptions } from "./options.ts";
