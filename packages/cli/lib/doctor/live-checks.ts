/** The doctor's checks of deployed resources that no template shows. */
import { OUTBOX_INDEX } from "onceonly/kit";
import { type DoctorCheck, TYPES } from "./diagnosed-stack.ts";

/** What a live table reports in addition to a template's properties. */
export interface LiveTable {
  readonly Status: string;
  readonly GlobalSecondaryIndexes: readonly { readonly IndexName: string; readonly Status: string }[];
}

/** What a live event source reports in addition to a template's properties. */
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
    remedy: "recreate it, or check the name: a stack doesn't notice when its resources are deleted by hand",
    find: (stack) =>
      stack.of<{ readonly Kind: string }>(TYPES.gone).map(({ id, properties }) => ({
        id,
        what: `is gone, and so is everything the ${properties.Kind} did`,
      })),
  },
  {
    id: "live-table-state",
    remedy: "wait until the table is active, or restore what it needs, such as its KMS key",
    find: ({ tables }) =>
      tables.flatMap(({ id, properties }) => {
        const { Status, GlobalSecondaryIndexes } = properties as unknown as LiveTable;
        const index = GlobalSecondaryIndexes.find(({ IndexName }) => IndexName === OUTBOX_INDEX);
        if (!SERVING.test(Status)) return [{ id, what: `is ${Status}` }];
        const isBuilt = index === undefined || SERVING.test(index.Status);
        return isBuilt ? [] : [{ id, what: `has its index "${OUTBOX_INDEX}" in status ${index.Status}` }];
      }),
  },
  {
    id: "live-stream",
    remedy:
      "recreate the event source mapping, starting at TRIM_HORIZON: re-enabling a stream creates a new one",
    find: (stack) =>
      stack.mappings.flatMap(({ id, properties }) => {
        const { FormerStreamOf } = properties as LiveMapping;
        return FormerStreamOf === undefined
          ? []
          : [{ id, what: `reads a previous stream of ${FormerStreamOf}` }];
      }),
  },
  {
    id: "live-mapping-result",
    remedy: "read its function's logs, and fix the error they report",
    find: (stack) =>
      stack.mappings.flatMap(({ id, properties }) => {
        const { LastProcessingResult = "" } = properties as LiveMapping;
        return LastProcessingResult.startsWith("PROBLEM")
          ? [{ id, what: `last reported: ${LastProcessingResult}` }]
          : [];
      }),
  },
  {
    id: "live-function-state",
    remedy: "redeploy the function, or restore what it needs, such as its KMS key or its subnets",
    find: ({ handlers, senders }) =>
      [...handlers, ...senders].flatMap(({ id, properties }) => {
        const { State, StateReasonCode = "no reason given", LastUpdateStatus } = properties as LiveFunction;
        if (State === "Failed") return [{ id, what: `has failed: ${StateReasonCode}` }];
        return LastUpdateStatus === "Failed"
          ? [{ id, what: "is still running its previous code: the last update failed" }]
          : [];
      }),
  },
  {
    id: "live-alarm-actions",
    remedy: "re-enable the alarm's actions (EnableAlarmActions)",
    find: (stack) =>
      stack
        .of<{ readonly ActionsEnabled?: boolean }>(TYPES.alarm)
        .filter(({ properties }) => properties.ActionsEnabled === false)
        .map(({ id }) => ({ id, what: "notifies no one: its actions are disabled" })),
  },
];
