/** The signatures of `saga`. Types only. */
import type { Saga, SagaOptions, SagaStep } from "./definition.ts";

/** There is no earlier step. */
type None = Record<never, never>;

/** The earlier results and the step's own, as one object, because that's what editors show. */
type And<Before, Name extends string, Result> = {
  readonly [Each in keyof Before | Name]: Each extends keyof Before
    ? Before[Each]
    : string extends Name
      ? unknown
      : Result;
} & unknown;

/**
 * One signature per number of steps, so that each step knows the results of the earlier ones. A single signature can't do
 * that: the compiler infers from left to right, but not in a list of any length.
 */
// biome-ignore format: the rows are a table
export interface DefineSaga {
  <I, W, const A extends string, AR>(name: string, steps: readonly [SagaStep<I, W, A, AR, None>], options?: SagaOptions): Saga<I, W, And<None, A, AR>>;
  <I, W, const A extends string, AR, const B extends string, BR>(name: string, steps: readonly [SagaStep<I, W, A, AR, None>, SagaStep<I, W, B, BR, And<None, A, AR>>], options?: SagaOptions): Saga<I, W, And<And<None, A, AR>, B, BR>>;
  <I, W, const A extends string, AR, const B extends string, BR, const C extends string, CR>(name: string, steps: readonly [SagaStep<I, W, A, AR, None>, SagaStep<I, W, B, BR, And<None, A, AR>>, SagaStep<I, W, C, CR, And<And<None, A, AR>, B, BR>>], options?: SagaOptions): Saga<I, W, And<And<And<None, A, AR>, B, BR>, C, CR>>;
  <I, W, const A extends string, AR, const B extends string, BR, const C extends string, CR, const D extends string, DR>(name: string, steps: readonly [SagaStep<I, W, A, AR, None>, SagaStep<I, W, B, BR, And<None, A, AR>>, SagaStep<I, W, C, CR, And<And<None, A, AR>, B, BR>>, SagaStep<I, W, D, DR, And<And<And<None, A, AR>, B, BR>, C, CR>>], options?: SagaOptions): Saga<I, W, And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>>;
  <I, W, const A extends string, AR, const B extends string, BR, const C extends string, CR, const D extends string, DR, const E extends string, ER>(name: string, steps: readonly [SagaStep<I, W, A, AR, None>, SagaStep<I, W, B, BR, And<None, A, AR>>, SagaStep<I, W, C, CR, And<And<None, A, AR>, B, BR>>, SagaStep<I, W, D, DR, And<And<And<None, A, AR>, B, BR>, C, CR>>, SagaStep<I, W, E, ER, And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>>], options?: SagaOptions): Saga<I, W, And<And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>, E, ER>>;
  <I, W, const A extends string, AR, const B extends string, BR, const C extends string, CR, const D extends string, DR, const E extends string, ER, const F extends string, FR>(name: string, steps: readonly [SagaStep<I, W, A, AR, None>, SagaStep<I, W, B, BR, And<None, A, AR>>, SagaStep<I, W, C, CR, And<And<None, A, AR>, B, BR>>, SagaStep<I, W, D, DR, And<And<And<None, A, AR>, B, BR>, C, CR>>, SagaStep<I, W, E, ER, And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>>, SagaStep<I, W, F, FR, And<And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>, E, ER>>], options?: SagaOptions): Saga<I, W, And<And<And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>, E, ER>, F, FR>>;
  <I, W, const A extends string, AR, const B extends string, BR, const C extends string, CR, const D extends string, DR, const E extends string, ER, const F extends string, FR, const G extends string, GR>(name: string, steps: readonly [SagaStep<I, W, A, AR, None>, SagaStep<I, W, B, BR, And<None, A, AR>>, SagaStep<I, W, C, CR, And<And<None, A, AR>, B, BR>>, SagaStep<I, W, D, DR, And<And<And<None, A, AR>, B, BR>, C, CR>>, SagaStep<I, W, E, ER, And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>>, SagaStep<I, W, F, FR, And<And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>, E, ER>>, SagaStep<I, W, G, GR, And<And<And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>, E, ER>, F, FR>>], options?: SagaOptions): Saga<I, W, And<And<And<And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>, E, ER>, F, FR>, G, GR>>;
  <I, W, const A extends string, AR, const B extends string, BR, const C extends string, CR, const D extends string, DR, const E extends string, ER, const F extends string, FR, const G extends string, GR, const H extends string, HR>(name: string, steps: readonly [SagaStep<I, W, A, AR, None>, SagaStep<I, W, B, BR, And<None, A, AR>>, SagaStep<I, W, C, CR, And<And<None, A, AR>, B, BR>>, SagaStep<I, W, D, DR, And<And<And<None, A, AR>, B, BR>, C, CR>>, SagaStep<I, W, E, ER, And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>>, SagaStep<I, W, F, FR, And<And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>, E, ER>>, SagaStep<I, W, G, GR, And<And<And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>, E, ER>, F, FR>>, SagaStep<I, W, H, HR, And<And<And<And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>, E, ER>, F, FR>, G, GR>>], options?: SagaOptions): Saga<I, W, And<And<And<And<And<And<And<And<None, A, AR>, B, BR>, C, CR>, D, DR>, E, ER>, F, FR>, G, GR>, H, HR>>;
  <Input, Write = unknown>(name: string, steps: readonly SagaStep<Input, Write>[], options?: SagaOptions): Saga<Input, Write>;
}
