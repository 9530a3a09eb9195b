/** What the doctor asks about what lives, and no template tells. */
import { OUTBOX_INDEX } from "onceonly/kit";
import { type DoctorCheck, TYPES } from "./diagnosed-stack.ts";

/** What a table tells beside the properties of a template. */
export interface LiveTable {
  readonly Status: string;
  readonly GlobalSecondaryIndexes: readonly { readonly IndexName: string; readonly Status: string }[];
}

/** What an event source tells beside the properties of a template. */
export interface LiveMapping {
  /** The id of the table whose stream it read before that was switched off and on. */
  readonly FormerStreamOf?: string;
  readonly LastProcessingResult?: string;
}

interface LiveFunction {
  readonly State?: string;
  readonly StateReasonCode?: string;
  readonly LastUpdateStatus?: string;
}

const SERVING = /^(ACTIVE|UPDATING)$/;

export const LIVE_CHECKS: readonly DoctorCheck[] = [
  {
    id: "live-gone",
    remedy: "make it again, or check the name: a stack does not notice what is deleted by hand",
    find: (stack) =>
      stack
        .of<{ readonly Kind: string }>(TYPES.gone)
        .map(({ id, properties }) => ({ id, what: `is gone, and so is what the ${properties.Kind} did` })),
  },
  {
    id: "live-table-state",
    remedy: "wait until the table is active, or restore what made it inaccessible, such as its KMS key",
    find: ({ tables }) =>
      tables.flatMap(({ id, properties }) => {
        const { Status, GlobalSecondaryIndexes } = properties as unknown as LiveTable;
        const index = GlobalSecondaryIndexes.find(({ IndexName }) => IndexName === OUTBOX_INDEX);
        if (!SERVING.test(Status)) return [{ id, what: `is ${Status}` }];
        const isBuilt = index === undefined || SERVING.test(index.Status);
        return isBuilt ? [] : [{ id, what: `has the index "${OUTBOX_INDEX}" in the state ${index.Status}` }];
      }),
  },
  {
    id: "live-stream",
    remedy:
      "make the event source anew, from TRIM_HORIZON: a stream that is switched on again is another one",
    find: (stack) =>
      stack.mappings.flatMap(({ id, properties }) => {
        const { FormerStreamOf } = properties as LiveMapping;
        return FormerStreamOf === undefined
          ? []
          : [{ id, what: `reads a former stream of ${FormerStreamOf}` }];
      }),
  },
  {
    id: "live-mapping-result",
    remedy: "read the logs of its function, and mend what it says",
    find: (stack) =>
      stack.mappings.flatMap(({ id, properties }) => {
        const { LastProcessingResult = "" } = properties as LiveMapping;
        return LastProcessingResult.startsWith("PROBLEM")
          ? [{ id, what: `says ${LastProcessingResult}` }]
          : [];
      }),
  },
  {
    id: "live-function-state",
    remedy: "deploy the function again, or restore what it needs, such as its KMS key or its subnets",
    find: ({ handlers, senders }) =>
      [...handlers, ...senders].flatMap(({ id, properties }) => {
        const { State, StateReasonCode = "no reason given", LastUpdateStatus } = properties as LiveFunction;
        if (State === "Failed") return [{ id, what: `has failed: ${StateReasonCode}` }];
        return LastUpdateStatus === "Failed"
          ? [{ id, what: "runs its former code: the last update failed" }]
          : [];
      }),
  },
  {
    id: "live-alarm-actions",
    remedy: "switch the actions of the alarm on again: EnableAlarmActions",
    find: (stack) =>
      stack
        .of<{ readonly ActionsEnabled?: boolean }>(TYPES.alarm)
        .filter(({ properties }) => properties.ActionsEnabled === false)
        .map(({ id }) => ({ id, what: "tells nobody: its actions are switched off" })),
  },
];
