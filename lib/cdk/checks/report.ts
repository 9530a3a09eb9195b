// Reports the findings of a rule at synthesis.
import { Annotations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import { note } from "../note.ts";
import type { Report } from "../rules/app.ts";
import { constructOf } from "./resolved-app.ts";

/**
 * Adds warnings and notes as annotations, which an app can acknowledge by their ids.
 * @param on gets the annotations about its own resource, because users know the construct
 * @returns the faults that synthesis fails for, without duplicates: an API has a method for each of its routes
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
