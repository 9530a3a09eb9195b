/** Faults at the edge of the SDK: answers that get lost, and errors in the place of answers. */
import { aroundRequests, type SdkClient } from "./around-requests.ts";

const WRITES = /^(Put|Update|Delete|TransactWrite|BatchExecute|Send)/;

/** What the SDK throws when an answer does not come, and repeats the request for. */
export function lostAnswer(): Error {
  return Object.assign(new Error("the answer got lost"), { name: "TimeoutError", code: "ETIMEDOUT" });
}

/** The next `times` answers to writes get lost on their way: the engine has applied them, the SDK sees a timeout. */
export function loseAnswers(client: SdkClient, times: number): void {
  let left = times;
  const loseOrHand = async ({ command, send }: { command: string; send(): Promise<object> }) => {
    const answer = await send().catch((error: Error) => error);
    if (WRITES.test(command) && left-- > 0) throw lostAnswer();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  aroundRequests(client, loseOrHand, { at: "wire", name: "loseAnswers" });
}

/** An error as the SDK throws it. Its texts differ between engines, so that nothing may depend on them. */
export function clientError(name: string, more: object = {}, httpStatusCode = 400): Error {
  return Object.assign(new Error(`the text of ${name}`), { name, $metadata: { httpStatusCode } }, more);
}

/** Every following call meets the next of `errors` instead of the engine, until none is left. */
export function failWith(client: SdkClient, ...errors: readonly Error[]): void {
  const left = [...errors];
  const failOrSend = async ({ send }: { send(): Promise<object> }) => {
    const error = left.shift();
    if (error !== undefined) throw error;
    return send();
  };
  aroundRequests(client, failOrSend, { at: "front", name: "failWith" });
}
