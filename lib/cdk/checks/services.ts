// Warns if two tables in one account and region have the same metrics namespace and service: usually two stages. No I/O.
import { Annotations, Stack, Token } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import type { IIdempotencyTable } from "../idempotency-table-interface.ts";
import { sharedRegistry } from "../shared-registry.ts";
import { tableIdentity } from "./relays.ts";

interface Names {
  readonly service: string;
  readonly namespace: string;
}

interface Use {
  readonly table: IIdempotencyTable;
  /** Whether the construct watches the metrics, or only writes them. */
  readonly isWatching: boolean;
}

type Named = Names & Use & { readonly by: IConstruct };

const namedIn = sharedRegistry<Named[]>("named");

/** Only a warning, because one service may have two tables. */
export function warnOfSharedService(by: IConstruct, names: Names, use: Use): void {
  const named: Named = { by, ...names, ...use };
  const others = namedIn.get(by.node.root) ?? [];
  namedIn.set(by.node.root, [...others, named]);
  const other = others.find((each) => isMixedUp(each, named));
  if (!other) return;
  Annotations.of(by).addWarningV2(
    "onceonly:shared-service",
    `${other.by.node.path} and ${by.node.path} share the service "${names.service}" in one account and region but use different tables, so alarms for one would fire on the other's metrics. Give each its own \`service\` (its stack's name, for example), and pass the same name to emfMetrics in its handlers`,
  );
}

function isMixedUp(one: Named, other: Named): boolean {
  if (!one.isWatching && !other.isWatching) return false;
  const isOneName = one.service === other.service && one.namespace === other.namespace;
  if (!isOneName || Token.isUnresolved(one.service) || !isSamePlace(one.by, other.by)) return false;
  return tableIdentity(one.table.table) !== tableIdentity(other.table.table);
}

/** Stacks without an `env` go to the account and region of the CLI's credentials. */
function isSamePlace(one: IConstruct, other: IConstruct): boolean {
  const [here, there] = [Stack.of(one), Stack.of(other)];
  return here.account === there.account && here.region === there.region;
}
