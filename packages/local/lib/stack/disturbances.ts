/** What somebody who tries a local run out does to it. Shapes only. */
import type { ObservedRequest, ProxyFault } from "../fault-proxy.ts";

export interface Disturbances {
  /** It is told of each invocation of a function before it runs: the construct path, and the event as JSON. */
  invoked(path: string, payload: string): void;
  /** What becomes of a request of a function to DynamoDB. */
  decide(request: ObservedRequest): ProxyFault;
  /** It is told once DynamoDB has answered such a request. */
  answered(request: ObservedRequest): void;
  /** Whether a queue, by its URL, or a topic or event bus, by its ARN, takes no messages now. */
  isDown(destination: string): boolean;
}
