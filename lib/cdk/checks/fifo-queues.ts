// Checks FIFO queues at synthesis. No I/O.
import { CfnResource } from "aws-cdk-lib";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { IConstruct } from "constructs";
import { ownerPath } from "../rules/app.ts";
import { findDestroyedKey } from "../rules/encryption-keys.ts";
import { findUnusableKey } from "../rules/events.ts";
import { importedFifoFaults as faultsOfArn, findFifo } from "../rules/fifo-queues.ts";
import { sharedRegistry } from "../shared-registry.ts";
import { reported } from "./report.ts";
import { ResolvedApp } from "./resolved-app.ts";
import { walkOnce } from "./resources.ts";

const checked = sharedRegistry<true>("fifo-checked");

/** Whether one of our constructs already reports it, so its consumers needn't. */
export const isCheckedQueue = (queue: object) => checked.has(queue as IConstruct);

/** Checks at synthesis, because senders may be added later. */
export function checkFifoQueues(construct: IConstruct, queues: readonly IQueue[]): void {
  const resources = () => queues.map((each) => each.node.defaultChild).filter(CfnResource.isCfnResource);
  for (const each of resources()) checked.set(each, true);
  walkOnce(construct);
  construct.node.addValidation({
    validate: () =>
      resources().flatMap((each) =>
        reported(each, (report) => {
          const app = ResolvedApp.of(each);
          findUnusableKey(app, each, report);
          findDestroyedKey(app, each, report);
          findFifo(app, each, report);
        }),
      ),
  });
}

/** For a FIFO queue of another app, only its senders in this app are known. */
export function importedFifoFaults(queue: IQueue): string[] {
  const app = ResolvedApp.of(queue);
  return faultsOfArn(app, app.resolve(queue.queueArn, queue), ownerPath(queue));
}
