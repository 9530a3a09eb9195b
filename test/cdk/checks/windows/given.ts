// What tests of redelivery windows have in common: a function with a retention, and what the synthesis says of it.
import type { Duration, Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import type { FunctionOptions, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { unitStack } from "../../app-given.ts";
import { aFunction, faultsOf } from "../../given.ts";

export interface Said {
  readonly faults: string;
  readonly warnings: string[];
  readonly notes: string[];
}

export type Build = (stack: Stack, fn: LambdaFunction) => void;

/** Synthesizes a function `Test/Fn` with this retention. */
export function synthesized(retention: Duration, build: Build, options: FunctionOptions = {}): Said {
  const stack = unitStack();
  const fn = aFunction(stack, "Fn", options);
  fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table"), { retention }));
  build(stack, fn);
  return saidOf(stack);
}

function saidOf(stack: Stack): Said {
  const faults = faultsOf(stack);
  if (faults !== "") return { faults, warnings: [], notes: [] };
  const said = Annotations.fromStack(stack);
  const texts = (found: ReturnType<Annotations["findWarning"]>) =>
    found.map(({ entry }) => String(entry.data)).filter((text) => text.includes("retention"));
  return {
    faults,
    warnings: texts(said.findWarning("*", Match.anyValue())),
    notes: texts(said.findInfo("*", Match.anyValue())),
  };
}
