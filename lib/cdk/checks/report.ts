// Says in a synthesis what a rule finds.
import { Annotations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import { note } from "../note.ts";
import type { Report } from "../rules/app.ts";
import { constructOf } from "./resolved-app.ts";

/**
 * Warnings and notes become annotations, which can be acknowledged by their ids.
 * @param on has those about its own resource, since people know the construct
 * @returns what is refused, each text once: an API has a method for each of its routes
 */
export function reported(on: IConstruct, find: (report: Report) => void): string[] {
  const faults = new Set<string>();
  find((severity, rule, at, text) => {
    const construct = constructOf(at);
    const place = on.node.defaultChild === construct ? on : construct;
    if (severity === "refused") faults.add(text);
    else if (severity === "warned") Annotations.of(place).addWarningV2(`onceonly:${rule}`, text);
    else note(place, `onceonly:${rule}`, text);
  });
  return [...faults];
}
