/** The entry "onceonly/http": idempotency for Node servers. */

export { PayloadTooLargeError } from "../core/errors.ts";
export { keepBody } from "./body.ts";
export { executionOf } from "./current.ts";
export { type ExpressIdempotency, expressIdempotency } from "./express.ts";
export {
  type FastifyHooks,
  type FastifyReplyLike,
  fastifyIdempotency,
} from "./fastify.ts";
export {
  type FetchIdempotency,
  type FetchNext,
  fetchIdempotency,
  type HonoIdempotency,
  honoIdempotency,
} from "./fetch.ts";
export type { ExpressRequest, FastifyRequestLike, HonoContextLike } from "./frameworks.ts";
export { type NestContextLike, type NestInterceptorLike, nestIdempotency } from "./nest.ts";
export type { FetchServerOptions, ServerOptions } from "./options.ts";
