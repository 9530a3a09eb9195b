// Whether the operations that a relay or a monitoring names are those that functions of the app run. No I/O.
import { Annotations, Token } from "aws-cdk-lib";
import type { ITableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { IConstruct } from "constructs";
import type { IIdempotencyTable } from "../idempotency-table-interface.ts";
import { note } from "../note.ts";
import type { RecordAccessOptions } from "../record-access.ts";
import { sharedRegistry } from "../shared-registry.ts";
import { tableIdentity } from "./relays.ts";
import { tableResource } from "./table-resources.ts";

interface Run extends Pick<RecordAccessOptions, "operations" | "commits"> {
  readonly table: ITableV2;
}

/** The operations of an app, as grants name them. */
const runs = sharedRegistry<Run[]>("runs");

export function noteOperations({ node, table }: IIdempotencyTable, options: RecordAccessOptions): void {
  const ofApp = runs.get(node.root) ?? [];
  runs.set(node.root, ofApp);
  ofApp.push({ table, operations: options.operations, commits: options.commits });
}

const identityOf = (table: ITableV2) => tableResource(table) ?? tableIdentity(table);

/** `undefined` where others may run too: of a table that isn't made in this app, by a grant of all, or by tokens. */
function operationsOn({ table, node }: IIdempotencyTable, isMeant: (run: Run) => boolean) {
  if (!tableResource(table)) return undefined;
  const identity = identityOf(table);
  const own = (runs.get(node.root) ?? []).filter((run) => isMeant(run) && identityOf(run.table) === identity);
  const names = own.flatMap(({ operations }) => operations ?? []);
  const isOpen = own.some(({ operations }) => operations === undefined) || Token.isUnresolved(names);
  return isOpen || names.length === 0 ? undefined : new Set(names);
}

/** A warning, since the function that commits may be in another app. */
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
      `${relay.node.path} has destinations for ${unknown.join(" and ")}, which no function of this app commits on ${table.node.path} (known: ${[...committed].join(", ")})${lost}: write the \`operation\` of the handler, or acknowledge this if another app commits it`,
    );
    return;
  }
  for (const name of without) {
    note(
      relay,
      "onceonly:no-destination",
      `whether ${name} commits messages is not checked: ${relay.node.path} has no destination for it, so its messages would be parked unsent`,
    );
  }
}

/** A warning, since the function may be in another app. */
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
    `${monitoring.node.path} watches ${unknown.join(" and ")}, which no function of this app runs on ${table.node.path} (known: ${[...known].join(", ")}), so its alarm would stay silent: write the \`operation\` of the handler, or acknowledge this if another app runs it`,
  );
}
