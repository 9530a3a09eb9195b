/** Entry "onceonly/durable": exactly once inside Lambda durable functions. */
export type { DurableContextLike } from "./context.ts";
export { currentChildKey } from "./current-step.ts";
export { durableIdempotency } from "./durable-idempotency.ts";
export { idempotentDurable } from "./idempotent-durable.ts";
export {
  type DurablePlugin,
  durableExecutionPluginProvider,
  type OncePluginOptions,
  oncePlugin,
  type PluginAttempt,
  type PluginInvocation,
  type PluginOperation,
} from "./once-plugin.ts";
export { type DurableRetryStrategy, type OnceRetryOptions, onceRetry } from "./once-retry.ts";
export { type OnceSagaOptions, onceSaga, type SagaContextLike, type SagaHeldError } from "./once-saga.ts";
export { type DurableStep, type OnceStepOptions, onceStep, type StepContextLike } from "./once-step.ts";
export type { DurableExecutionReader, DurableIdempotencyOptions } from "./options.ts";
export { type StartOnceHandler, startOnce } from "./start-once.ts";
export type {
  DurableExecutionDescription,
  DurableStarter,
  StartedExecution,
  StartOnceOptions,
} from "./start-options.ts";
