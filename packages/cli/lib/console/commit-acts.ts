/** An operator's decision about one message of a commit, as the page sends it. */
import type { ByWhom, Clock } from "onceonly/kit";
import { UsageError } from "../command.ts";
import {
  decideMessages,
  destinationChangeIn,
  editMessage,
  MESSAGE_ACTS,
  type MessageAct,
} from "../message-acts.ts";
import type { Act } from "./console-source.ts";
import type { KnownKey } from "./known-keys.ts";
import type { ActAnswer } from "./look.ts";

/** @throws UsageError */
export async function actOnMessage(
  { table, recordKey }: KnownKey,
  act: Act,
  decided: ByWhom,
  clock: Clock,
): Promise<ActAnswer> {
  const place = Number(act.message);
  const decider = { ...decided, clock };
  const edit = { ...decider, message: place, body: `${act.body ?? ""}` };
  const { done, message } =
    act.act === "edit"
      ? await editMessage(table, recordKey, edit)
      : await decideMessages(table, recordKey, { ...decider, ...messageActIn(act) }, () => [place]);
  return { done, message: done ? `Message ${place} ${message}.` : `Nothing was changed: ${message}.` };
}

/** @throws UsageError */
function messageActIn({ act, kind, address, ...parts }: Act) {
  if (!isMessageAct(act)) throw new UsageError(`the action "${act}" isn't available for a message`);
  if (act !== "redirect") return { act };
  const to = destinationChangeIn({ ...parts, [`${kind}`]: address });
  if (!to) throw new UsageError("enter the new destination");
  return { act, to };
}

const isMessageAct = (act: string): act is MessageAct => (MESSAGE_ACTS as readonly string[]).includes(act);
