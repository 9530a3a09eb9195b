/**
 * Lambda's durable service, and a sender in front of it. Each delivery starts an execution, and the handler is called until the
 * execution ends: again after a suspension when its wait is over, and again after a crash. If an execution fails, the sender
 * delivers again for as long as another one runs, and then for as long as any sender does.
 */
import type { DurableExecution, DurableInvocationOutput } from "../../aws/durable/durable-executions.ts";
import type { Invocation } from "../../simulator/invocation.ts";
import { plainOf } from "../plain-value.ts";
import { failedAnswer, type Source, type SourceAnswer, type SourceStage, undoneIn } from "../source.ts";

const AGAIN_AFTER_MS = 5_000;
const DELIVERED_AGAIN_AFTER_MS = 120_000;
/** More waits in a row, and more failed invocations, are an error in the handler. */
const MAX_INVOCATIONS = 100;

export const durableService: Source = {
  kind: "durable",
  sender: "Lambda",
  prepare() {},
  async deliver(stage) {
    const { clock, patienceMs, note } = stage;
    const until = clock.now() + patienceMs;
    for (;;) {
      const isLast = clock.now() >= until && !isAnyRunning(stage);
      const answer = await execute(stage, note);
      if (answer.isSuccess || isLast) return;
      await clock.sleep(DELIVERED_AGAIN_AFTER_MS);
    }
  },
  async repeat(stage) {
    return execute(stage, () => {});
  },
};

function isAnyRunning({ aws }: SourceStage): boolean {
  return [...aws.durable.executions.values()].some(({ status }) => status === "RUNNING");
}

async function execute(
  { aws, fn, event, clock }: SourceStage,
  note: (answer: SourceAnswer) => void,
): Promise<SourceAnswer> {
  const { durable } = aws;
  const execution = durable.start(event);
  for (;;) {
    const invocation = await fn.invoke(durable.invocationOf(execution));
    const output = outputOf(invocation);
    if (output) durable.end(execution, output);
    if (execution.status !== "RUNNING") {
      const answer = answerOf(execution, invocation);
      note(answer);
      return answer;
    }
    if (!output) note(failedAnswer(invocation));
    if (execution.invocations >= MAX_INVOCATIONS) return failedAnswer(invocation);
    durable.answerCallbacks(execution);
    const next = output ? (durable.nextAt(execution) ?? clock.now()) : clock.now() + AGAIN_AFTER_MS;
    await clock.sleep(Math.max(0, next - clock.now()));
    durable.endWaits(execution, clock.now());
  }
}

/** `undefined` if the invocation gave no answer. */
function outputOf(invocation: Invocation): DurableInvocationOutput | undefined {
  if (invocation.outcome !== "returned") return undefined;
  const { Status } = Object(invocation.value) as Partial<DurableInvocationOutput>;
  if (Status === "PENDING" || Status === "SUCCEEDED" || Status === "FAILED")
    return invocation.value as DurableInvocationOutput;
  throw new Error(
    "the handler isn't a durable one: its source is `durable`, so pass the result of `withDurableExecution`",
  );
}

function answerOf({ status, result, error }: DurableExecution, { number }: Invocation): SourceAnswer {
  if (status === "SUCCEEDED") {
    const value: unknown = result ? JSON.parse(result) : null;
    return { isSuccess: true, invocation: number, words: "the execution succeeded", content: plainOf(value) };
  }
  const content = undoneIn(error);
  if (content)
    return {
      isSuccess: true,
      invocation: number,
      words: "everything is compensated",
      detail: error,
      content,
    };
  return { isSuccess: false, invocation: number, words: "the execution failed", detail: error };
}
