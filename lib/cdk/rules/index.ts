/** The entry "onceonly/cdk-rules": the rules that synthesis applies, without aws-cdk-lib. `onceonly doctor` uses them too. */
export {
  FUNCTION,
  objectIn,
  ownerPath,
  type Place,
  QUEUE,
  type Report,
  type Resource,
  type ResourceDefinition,
  type Severity,
  TABLES,
  valueIn,
} from "./app.ts";
export { findInDispatcher } from "./dispatchers.ts";
export { findDestroyedKey } from "./encryption-keys.ts";
export { needOfSending, needOfUpdates } from "./endpoints.ts";
export { readersFrom, readersInto } from "./event-sources.ts";
export { findUnusableKey } from "./events.ts";
export { findFifo, foreignFifoFaults } from "./fifo-queues.ts";
export { findInRunner, findRuntime, queuesAround } from "./functions.ts";
export { MarkedApp } from "./marked-app.ts";
export { findNoWay } from "./networks.ts";
export { findRelayParts } from "./relay-parts.ts";
export {
  findNoConcurrency,
  findNoRelay,
  findOverlap,
  findParallelShards,
  findSecondRelay,
  findShortReconciler,
  noDestinations,
  secondReconciler,
} from "./relays.ts";
export {
  findInTable,
  findProtection,
  findRelayIndex,
  findRelayKeys,
  findReplicas,
  looksLikeRecords,
} from "./tables.ts";
