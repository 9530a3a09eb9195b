/** The ways to disturb a local run. Types only. */
import type { ObservedRequest, ProxyFault } from "../fault-proxy.ts";

export interface Disturbances {
  /** Called before each invocation of a function, with the construct path and the event as JSON. */
  invoked(path: string, payload: string): void;
  /** Decides what happens to a function's request to DynamoDB. */
  decide(request: ObservedRequest): ProxyFault;
  /** Called once DynamoDB has answered such a request. */
  answered(request: ObservedRequest): void;
  /** Whether a queue, by its URL, or a topic or event bus, by its ARN, accepts no messages now. */
  isDown(destination: string): boolean;
}
