/** Something that answers SQS's operations, whichever way it is reached. */

import type { FakeClock } from "../../../../../../lib/testing/fake-clock.ts";
import { fakeClock } from "../../../../../../lib/testing/fake-clock.ts";
import type { SqsOperationName, SqsOperations } from "../../../../lib/aws/sqs/operations.ts";
import { SqsModel } from "../../../../lib/aws/sqs/sqs-model.ts";

export interface SqsSubject {
  call<Name extends SqsOperationName>(
    name: Name,
    input: SqsOperations[Name]["input"],
  ): Promise<SqsOperations[Name]["output"]>;
  /** Passes time; not every subject can. */
  readonly clock?: FakeClock | undefined;
  stop(): Promise<void>;
}

export function modelSubject(): SqsSubject {
  const clock = fakeClock();
  const model = new SqsModel({ clock });
  return { call: (name, input) => model.call(name, input), clock, stop: async () => model.close() };
}
