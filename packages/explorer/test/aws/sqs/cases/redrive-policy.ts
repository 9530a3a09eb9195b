/** Which queue may be the dead-letter queue of which. */
import { expect } from "vitest";
import {
  arnOf,
  attributesOf,
  guide,
  newFifo,
  newQueue,
  now,
  recorded,
  refused,
  type SqsCase,
} from "./case.ts";
import { withDeadLetters } from "./dead-letter-given.ts";
import type { SqsSubject } from "./subject.ts";

function setPolicy(sqs: SqsSubject, QueueUrl: string, policy: object | string) {
  const RedrivePolicy = typeof policy === "string" ? policy : JSON.stringify(policy);
  return sqs.call("SetQueueAttributes", { QueueUrl, Attributes: { RedrivePolicy } });
}

function setAllowPolicy(sqs: SqsSubject, QueueUrl: string, policy: object) {
  const Attributes = { RedriveAllowPolicy: JSON.stringify(policy) };
  return sqs.call("SetQueueAttributes", { QueueUrl, Attributes });
}

export const redrivePolicyCases: readonly SqsCase[] = [
  now(
    "a redrive policy has both its parts",
    recorded("test_redrive_policy_attribute_validity"),
    async (sqs) => {
      const queue = await newQueue(sqs);
      const deadLetterTargetArn = await arnOf(sqs, await newQueue(sqs));

      await refused(setPolicy(sqs, queue, { maxReceiveCount: 1 }), "InvalidParameterValue");
      await refused(setPolicy(sqs, queue, "no JSON"), "InvalidParameterValue");
      for (const maxReceiveCount of ["invalid", 0, 1001, 1.5]) {
        await refused(
          setPolicy(sqs, queue, { deadLetterTargetArn, maxReceiveCount }),
          "InvalidParameterValue",
        );
      }
      await setPolicy(sqs, queue, { deadLetterTargetArn, maxReceiveCount: "1000" });
      // Without a count SQS assumes 10.
      await setPolicy(sqs, queue, { deadLetterTargetArn });
    },
  ),
  now("a dead-letter queue exists, and is of the same type", guide("sqs-dead-letter-queues"), async (sqs) => {
    const standard = await newQueue(sqs);
    const fifoArn = await arnOf(sqs, await newFifo(sqs));
    const ofNobody = (await arnOf(sqs, standard)).replace(/[^:]+$/, "nobody");

    for (const deadLetterTargetArn of [fifoArn, ofNobody, "dummy"]) {
      await refused(
        setPolicy(sqs, standard, { deadLetterTargetArn, maxReceiveCount: 1 }),
        "InvalidParameterValue",
      );
    }
  }),
  now("an empty redrive policy removes it", recorded("test_set_empty_redrive_policy"), async (sqs) => {
    const { queue } = await withDeadLetters(sqs, newQueue, 1);
    expect(await attributesOf(sqs, queue)).toHaveProperty("RedrivePolicy");

    await setPolicy(sqs, queue, "");

    expect(await attributesOf(sqs, queue)).not.toHaveProperty("RedrivePolicy");
  }),
  now(
    "a dead-letter queue says by redriveAllowPolicy whose it is",
    guide("sqs-configure-dead-letter-queue"),
    async (sqs) => {
      const [queue, other, deadLetters] = [await newQueue(sqs), await newQueue(sqs), await newQueue(sqs)];
      const policy = { deadLetterTargetArn: await arnOf(sqs, deadLetters), maxReceiveCount: 1 };
      const sourceQueueArns = [await arnOf(sqs, queue)];

      await setAllowPolicy(sqs, deadLetters, { redrivePermission: "denyAll" });
      await refused(setPolicy(sqs, queue, policy), "InvalidParameterValue");
      await setAllowPolicy(sqs, deadLetters, { redrivePermission: "byQueue", sourceQueueArns });
      await setPolicy(sqs, queue, policy);
      await refused(setPolicy(sqs, other, policy), "InvalidParameterValue");
      await setAllowPolicy(sqs, deadLetters, { redrivePermission: "allowAll" });
      await setPolicy(sqs, other, policy);
    },
  ),
  now(
    "a redriveAllowPolicy names at most 10 queues, and only byQueue",
    guide("sqs-configure-dead-letter-queue"),
    async (sqs) => {
      const queue = await newQueue(sqs);
      const arns = (count: number) => Array.from({ length: count }, (_, index) => `arn:${index}`);

      for (const policy of [
        { redrivePermission: "some" },
        { redrivePermission: "byQueue" },
        { redrivePermission: "byQueue", sourceQueueArns: arns(11) },
        { redrivePermission: "denyAll", sourceQueueArns: arns(1) },
      ]) {
        await refused(setAllowPolicy(sqs, queue, policy), "InvalidParameterValue");
      }
      await setAllowPolicy(sqs, queue, { redrivePermission: "byQueue", sourceQueueArns: arns(10) });
    },
  ),
];
