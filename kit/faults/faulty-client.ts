// Faults at the edge of the SDK, between its retries and the wire: answers that get lost, and errors in their place.
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";

const WRITES = /^(Put|Update|Delete|TransactWrite|BatchExecute)/;

/** The next `times` answers to writes get lost on their way: the engine has applied them, the SDK sees a timeout. */
export function loseAnswers(client: DynamoDBClient, times: number): void {
  let left = times;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const answer = await next(args).catch((error: Error) => error);
      if (WRITES.test(String(context.commandName)) && left-- > 0) {
        throw Object.assign(new Error("the answer got lost"), { name: "TimeoutError", code: "ETIMEDOUT" });
      }
      if (answer instanceof Error) throw answer;
      return answer;
    },
    { step: "finalizeRequest", priority: "low", name: "loseAnswers", override: true },
  );
}

/** An error as the SDK throws it. Its texts differ between engines, so that nothing may depend on them. */
export function clientError(name: string, more: object = {}, httpStatusCode = 400): Error {
  return Object.assign(new Error(`the text of ${name}`), { name, $metadata: { httpStatusCode } }, more);
}

/** Every following request meets the next of `errors` instead of the engine, until none is left. */
export function failWith(client: DynamoDBClient, ...errors: readonly Error[]): void {
  const left = [...errors];
  client.middlewareStack.add(
    (next) => (args) => {
      const error = left.shift();
      return error === undefined ? next(args) : Promise.reject(error);
    },
    // Before the SDK's own retries, which have their own tests.
    { step: "initialize", priority: "high", name: "failWith", override: true },
  );
}
