/** Commits that share a transaction: either all of them are applied, or each gets the reasons of its own refusal. */
import type { CancellationReason } from "@aws-sdk/client-dynamodb";
import { hashTuple } from "../core/identity.ts";
import type { Member } from "./gatherer.ts";
import { type GroupSender, isDoubtful, repeated, sendAlone } from "./group-sender.ts";
import { actionsOf, type Commit, joinCommits, reasonsOfEach } from "./join-commits.ts";
import type { ClientError } from "./send.ts";

/** With nothing but their records, this many fill a transaction. */
export const MAX_COMMITS = 100;

type CommitMember = Member<Commit>;

export async function sendCommits(sender: GroupSender, members: readonly CommitMember[]): Promise<void> {
  await Promise.all(joinCommits(sender.table, members).map((joined) => sendJoined(sender, joined)));
}

/** @param inDoubt whether a transaction before this one may have been applied, or may still be */
async function sendJoined(
  sender: GroupSender,
  members: readonly CommitMember[],
  { isSecond = false, inDoubt = false } = {},
): Promise<void> {
  const [first] = members;
  if (members.length === 1) return sendAlone(sender, "TransactWriteItems", first as CommitMember, inDoubt);
  try {
    const answer = await sender.connection.send("TransactWriteItems", {
      TransactItems: members.flatMap(actionsOf),
      ClientRequestToken: hashTuple(...members.map(({ input }) => `${input.ClientRequestToken}`)).slice(
        0,
        36,
      ),
    });
    for (const { resolve } of members) resolve(answer as never);
  } catch (error) {
    const doubtful = inDoubt || isDoubtful(error);
    const { innocent, others } = settleMembers(members, error as ClientError, doubtful);
    // The reasons may not name every commit that was in the way.
    const isWorthwhile = !isSecond && innocent.length < members.length;
    const alone = isWorthwhile ? others : [...others, ...innocent];
    for (const member of alone) void sendAlone(sender, "TransactWriteItems", member, doubtful);
    if (isWorthwhile && innocent.length > 0) {
      await sendJoined(sender, innocent, { isSecond: true, inDoubt: doubtful });
    }
  }
}

/**
 * Reports to the members whose own conditions were refused. `innocent` members caused no refusal; for `others` that isn't known.
 */
function settleMembers(members: readonly CommitMember[], error: ClientError, inDoubt: boolean) {
  const innocent: CommitMember[] = [];
  const others: CommitMember[] = [];
  const reasons = reasonsOfEach(members, error.CancellationReasons);
  for (const [index, member] of members.entries()) {
    const own = reasons?.[index];
    const codes = own?.map(({ Code = "None" }) => Code).filter((code) => code !== "None");
    if (!own || !codes?.every((code) => code === "ConditionalCheckFailed")) others.push(member);
    else if (codes.length === 0) innocent.push(member);
    else member.reject(canceled(error, own, inDoubt));
  }
  return { innocent, others };
}

/** DynamoDB's error for a transaction with one member's actions only, so that it doesn't reveal the items of other members. */
function canceled(
  error: ClientError,
  CancellationReasons: readonly CancellationReason[],
  inDoubt: boolean,
): Error {
  return Object.assign(
    new Error("Transaction cancelled, please refer cancellation reasons for specific reasons"),
    {
      name: "TransactionCanceledException",
      $metadata: inDoubt ? repeated(error) : error.$metadata,
      CancellationReasons,
    },
  );
}
