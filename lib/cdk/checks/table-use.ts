// Whether a function uses a table that it should not run its operations on: its own event source, or one of another stage.
import { Annotations, Stack, Stage, Token } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import type { IIdempotencyTable } from "../idempotency-table-interface.ts";
import { readersInto } from "./event-sources.ts";
import { ownerPath } from "./resources.ts";
import { tableResource } from "./table-resources.ts";
import type { ResolvedApp } from "./windows/resolved-app.ts";

export function warnOfTableUse(app: ResolvedApp, fn: IConstruct, { table }: IIdempotencyTable): void {
  const resource = tableResource(table);
  if (!resource) return;
  const reader = readersInto(fn, app).find(
    ({ source, settings }) => source === resource && settings.FilterCriteria === undefined,
  );
  if (reader) {
    Annotations.of(fn).addWarningV2(
      "onceonly:own-stream",
      `${fn.node.path} reads the stream of ${ownerPath(resource)}, which also holds its records: each claim is a change in that stream and invokes it again, without end. Give the event source a filter that leaves the records out, or use another table for them`,
    );
  }
  const [own, other] = [Stage.of(fn), Stage.of(resource)];
  const { account, region } = Stack.of(fn);
  if (own === other || Token.isUnresolved(`${account}${region}`)) return;
  Annotations.of(fn).addWarningV2(
    "onceonly:other-stage",
    `${fn.node.path} uses ${ownerPath(resource)} by its name, a table of another stage: a call that one stage has handled is not run in the other, which answers with its result. Give each stage its own table, or acknowledge this if both are one environment`,
  );
}
