// The two private fields of AWS's SDK that lib/durable/context.ts reads. If a test here fails after an update of the SDK, look for a
// public interface first, then for the field's new name, and change context.ts. Don't release before: each test says what breaks.
import { type DurableContext, SDK_VERSION } from "@aws/durable-execution-sdk-js";
import { onceStep } from "onceonly/durable";
import { describe, expect, it } from "vitest";
import { fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { DurableService } from "../kit/durable-service.ts";

/** What a handler sees in its context. */
async function seen(look: (context: DurableContext) => Promise<unknown>) {
  const service = new DurableService(fakeClock());
  const handler = service.deploy(async (_event: unknown, context: DurableContext) => look(context));
  return service.run(handler, service.start({}));
}

describe(`the SDK ${SDK_VERSION}`, () => {
  it("has a context's place in `_stepPrefix`. Without it onceStep and idempotentDurable refuse every context", async () => {
    const placeOf = (context: unknown) => [
      "_stepPrefix" in (context as object),
      (context as { readonly _stepPrefix?: string })._stepPrefix,
    ];
    const { result } = await seen(async (context) => {
      const nested = (child: DurableContext) => child.runInChildContext(async (inner) => placeOf(inner));
      const mapped = await context.map([1, 2], async (child) => placeOf(child));
      return [placeOf(context), await context.runInChildContext(nested), ...mapped.getResults()];
    });

    expect(JSON.parse(result as string)).toEqual([
      [true, null],
      [true, "2-1"],
      [true, "1-1"],
      [true, "1-2"],
    ]);
  });

  it("has the end of an invocation in `_executionContext.terminationManager`. Without it a handler that returns or throws although it is suspended, as in a race with a wait, counts as ended until the next invocation; and a child context whose key can't be recorded fails instead of being called again", async () => {
    const { result } = await seen(async (context) => {
      const { terminationManager } = (context as never as { _executionContext: Record<string, object> })
        ._executionContext;
      const { isTerminated, terminate } = terminationManager as { isTerminated: unknown; terminate: unknown };
      return [isTerminated, typeof terminate];
    });

    expect(JSON.parse(result as string)).toEqual([false, "function"]);
  });

  it("is refused in a version without `_stepPrefix`, whose branches would get each other's results", async () => {
    const { status, error } = await seen(async (context) => {
      const { step, runInChildContext, executionContext, lambdaContext } = context;
      const other = { step, runInChildContext, executionContext, lambdaContext };
      return onceStep<unknown, MemoryWrite>(other as never, "charge", () => "charged", {
        store: new MemoryStore(),
      });
    });

    expect([status, error]).toEqual(["FAILED", expect.stringContaining("can't tell branches apart")]);
  });
});
