/** Erases the answers of an owner: shows what a scan costs, lists the keys that it finds, and erases those that were listed. */
import { randomUUID } from "node:crypto";
import { type Clock, namesOf } from "onceonly/kit";
import { UsageError } from "../command.ts";
import { eraseScoped } from "../erasing.ts";
import { notChanged } from "../group.ts";
import type { OpenTable } from "../open-table.ts";
import { type ScopedKey, scanCostLine, scopedKeys } from "../scan.ts";
import type { Act, AskedOwner } from "./console-source.ts";
import { byWhomIn, checkTyped } from "./key-acts.ts";
import type { KnownKeys } from "./known-keys.ts";
import type { ActAnswer, OwnerLook } from "./look.ts";

export interface OwnerErasure {
  owned(asked: AskedOwner): Promise<OwnerLook>;
  /** `undefined` for an act on anything but a list of `owned`. @throws UsageError */
  act(act: Act): Promise<ActAnswer | undefined>;
}

interface Listed {
  readonly id: string;
  readonly typed: string;
  readonly found: readonly (ScopedKey & { readonly table: OpenTable })[];
}

/** The most keys whose reasons are named. */
const NAMED = 5;

export function ownerErasure(
  known: KnownKeys,
  tables: () => Promise<readonly OpenTable[]>,
  clock: Clock,
): OwnerErasure {
  /** The last one: it's erased as it was listed, or not at all. */
  let listed: Listed | undefined;

  async function list(scope: string, operation: string): Promise<Listed> {
    const of = { scope, ...(operation !== "" && { operation }) };
    const found = await Promise.all(
      (await tables()).map(async (table) =>
        (await scopedKeys(table, of)).map((each) => ({ ...each, table })),
      ),
    );
    return { id: randomUUID(), typed: scope || operation, found: found.flat() };
  }

  return {
    async owned({ scope, operation, scan }) {
      if (scope === "" && operation === "") throw new UsageError("enter the owner, an operation, or both");
      if (!scan) return { cost: (await Promise.all((await tables()).map(scanCostLine))).join("; ") };
      listed = await list(scope, operation);
      const { id, typed, found } = listed;
      for (const { table, recordKey } of found) known.remember(table, recordKey);
      return { id, typed, keys: found.map(({ recordKey }) => namesOf(recordKey)) };
    },
    async act(act) {
      if (act.owned === undefined) return undefined;
      if (listed?.id !== act.owned) throw new UsageError("this list is out of date: look for the keys again");
      checkTyped(act, listed.typed);
      const erasure = byWhomIn(act);
      const { found } = listed;
      let done = 0;
      const left: string[] = [];
      for (const { table, ...key } of found) {
        const changed = await eraseScoped(table, key, erasure, { clock }).catch(notChanged);
        if (changed.done) done++;
        const more = changed.done ? changed.next : changed.message;
        if (more !== undefined) left.push(`${key.recordKey}: ${more}`);
      }
      const others = left.length > NAMED ? `, and ${left.length - NAMED} more` : "";
      const about = left.length > 0 ? ` ${left.slice(0, NAMED).join("; ")}${others}.` : "";
      return {
        done: done > 0,
        message: `Erased the answers of ${done} of ${found.length} keys.${about}`,
      };
    },
  };
}
