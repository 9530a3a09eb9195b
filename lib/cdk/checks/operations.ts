// Whether functions of the app run the operations that a relay or a monitoring construct names. No I/O.
import { Annotations, Token } from "aws-cdk-lib";
import type { ITableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { IConstruct } from "constructs";
import { nearest } from "../../core/nearest.ts";
import type { IIdempotencyTable } from "../idempotency-table-interface.ts";
import { note } from "../note.ts";
import type { RecordAccessOptions } from "../record-access.ts";
import { sharedRegistry } from "../shared-registry.ts";
import { tableIdentity } from "./relays.ts";
import { tableResource } from "./table-resources.ts";

interface Run extends Pick<RecordAccessOptions, "operations" | "commits"> {
  readonly table: ITableV2;
}

/** For each app, the operations that its grants name. */
const runs = sharedRegistry<Run[]>("runs");

export function noteOperations({ node, table }: IIdempotencyTable, options: RecordAccessOptions): void {
  const ofApp = runs.get(node.root) ?? [];
  runs.set(node.root, ofApp);
  ofApp.push({ table, operations: options.operations, commits: options.commits });
}

const identityOf = (table: ITableV2) => tableResource(table) ?? tableIdentity(table);

/** `undefined` if others may run too: if the table isn't defined in this app, or a grant covers all operations or has tokens. */
function operationsOn({ table, node }: IIdempotencyTable, isMeant: (run: Run) => boolean) {
  if (!tableResource(table)) return undefined;
  const identity = identityOf(table);
  const own = (runs.get(node.root) ?? []).filter((run) => isMeant(run) && identityOf(run.table) === identity);
  const names = own.flatMap(({ operations }) => operations ?? []);
  const isOpen = own.some(({ operations }) => operations === undefined) || Token.isUnresolved(names);
  return isOpen || names.length === 0 ? undefined : new Set(names);
}

/** Only a warning, because the function that commits may be in another app. */
export function warnOfDestinations(
  relay: IConstruct,
  table: IIdempotencyTable,
  named: readonly string[],
): void {
  const committed = operationsOn(table, ({ commits }) => commits === true);
  if (!committed || named.length === 0 || Token.isUnresolved(named)) return;
  const unknown = named.filter((name) => !committed.has(name));
  const without = [...committed].filter((name) => !named.includes(name));
  if (unknown.length > 0) {
    const lost =
      without.length > 0 ? `, and messages of ${without.join(" and ")} would be parked unsent` : "";
    Annotations.of(relay).addWarningV2(
      "onceonly:unknown-operation",
      `${relay.node.path} has destinations for ${unknown.join(" and ")}, but no function of this app commits that operation on ${table.node.path} (${knownWords(unknown, committed)})${lost}: use the \`operation\` of the handler, or acknowledge this if another app commits it`,
    );
    return;
  }
  for (const name of without) {
    note(
      relay,
      "onceonly:no-destination",
      `can't check whether ${name} commits messages: ${relay.node.path} has no destination for it, so its messages would be parked unsent`,
    );
  }
}

/** Only a warning, because the function may be in another app. */
export function warnOfWatched(
  monitoring: IConstruct,
  table: IIdempotencyTable,
  named: readonly string[],
): void {
  const known = operationsOn(table, () => true);
  if (!known || Token.isUnresolved(named)) return;
  const unknown = named.filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  Annotations.of(monitoring).addWarningV2(
    "onceonly:unknown-operation",
    `${monitoring.node.path} watches ${unknown.join(" and ")}, but no function of this app runs that operation on ${table.node.path} (${knownWords(unknown, known)}), so its alarm would never fire: use the \`operation\` of the handler, or acknowledge this if another app runs it`,
  );
}

/** Lists the existing operations, and suggests those that were probably intended. */
function knownWords(unknown: readonly string[], known: ReadonlySet<string>): string {
  const meant = new Set(unknown.flatMap((name) => nearest(name, [...known]) ?? []));
  const words = `known: ${[...known].join(", ")}`;
  return meant.size === 0 ? words : `did you mean ${[...meant].join(" and ")}? ${words}`;
}
