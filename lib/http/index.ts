/** What a Node server imports: the HTTP face for the Fetch API, Hono, Express and Fastify. */
export { executionOf } from "./current.ts";
export { expressIdempotency, keepBody } from "./express.ts";
export {
  type FastifyHooks,
  type FastifyReplyLike,
  type FastifyRequestLike,
  fastifyIdempotency,
} from "./fastify.ts";
export { type FetchNext, fetchIdempotency, type HonoContextLike, honoIdempotency } from "./fetch.ts";
export type { ServerOptions } from "./options.ts";
