// Warns where two tables of one account and region have their metrics under one name: two stages, mostly. No I/O.
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
  /** Whether it watches the metrics, or only writes them. */
  readonly isWatching: boolean;
}

type Named = Names & Use & { readonly by: IConstruct };

const namedIn = sharedRegistry<Named[]>("named");

/** A warning, since one service may have two tables. */
export function warnOfSharedService(by: IConstruct, names: Names, use: Use): void {
  const named: Named = { by, ...names, ...use };
  const others = namedIn.get(by.node.root) ?? [];
  namedIn.set(by.node.root, [...others, named]);
  const other = others.find((each) => isMixedUp(each, named));
  if (!other) return;
  Annotations.of(by).addWarningV2(
    "onceonly:shared-service",
    `${other.by.node.path} and ${by.node.path} have the service "${names.service}" in one account and region, and tables of their own: alarms of the one would be raised by what happens in the other. Give each a \`service\`, the name of its stack for example, and the handlers' emfMetrics the same`,
  );
}

function isMixedUp(one: Named, other: Named): boolean {
  if (!one.isWatching && !other.isWatching) return false;
  const isOneName = one.service === other.service && one.namespace === other.namespace;
  if (!isOneName || Token.isUnresolved(one.service) || !isSamePlace(one.by, other.by)) return false;
  return tableIdentity(one.table.table) !== tableIdentity(other.table.table);
}

/** Stacks without an `env` are deployed to the account and region of whoever deploys them. */
function isSamePlace(one: IConstruct, other: IConstruct): boolean {
  const [here, there] = [Stack.of(one), Stack.of(other)];
  return here.account === there.account && here.region === there.region;
}
