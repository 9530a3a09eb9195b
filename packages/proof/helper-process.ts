// A separate process that answers one question after the other, and ends with its parent.
import { type ForkOptions, fork } from "node:child_process";
import { once } from "node:events";

export interface HelperProcess {
  /** @throws Error that the process answered, or when it has ended before its time */
  ask(question: unknown): Promise<unknown>;
  stop(): void;
}

/** @param bundle of a program that calls `answerParent` */
export function startHelper(
  bundle: string,
  args: readonly string[] = [],
  options: ForkOptions = {},
): HelperProcess {
  const child = fork(bundle, args, { execArgv: [], ...options });
  const ended = once(child, "exit").then(() => {
    throw new Error("a process of the benchmark ended before its time");
  });
  ended.catch(() => undefined);
  return {
    async ask(question) {
      child.send(question as object);
      const [{ answer, error }] = await Promise.race([once(child, "message"), ended]);
      if (error !== undefined) throw new Error(error);
      return answer;
    },
    stop() {
      if (child.connected) child.disconnect();
    },
  };
}

/** On the other side. */
export function answerParent<Question>(answer: (question: Question) => unknown): void {
  process.on("message", async (question: Question) => {
    try {
      process.send?.({ answer: await answer(question) });
    } catch (error) {
      process.send?.({ error: String((error as Error).stack ?? error) });
    }
  });
  process.on("disconnect", () => process.exit());
}
