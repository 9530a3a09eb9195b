// Notes report what synthesis couldn't check. The CLI prints them as `[Info at /Shop/Fn]`.
import { Annotations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/**
 * Apps from `cdk init` set it since 2.253. The CLI then prints a validation report, which omits notes if the app has any
 * warning, and omits stages that aren't selected.
 */
const HIDES_NOTES = "@aws-cdk/core:annotationsInValidationReport";

const printed = new WeakMap<IConstruct, Set<string>>();

/** Adds a note, and prints it if the CLI wouldn't. A note that the app acknowledged by its id is omitted. */
export function note(construct: IConstruct, id: string, text: string): void {
  Annotations.of(construct).addInfoV2(id, text);
  const { node } = construct;
  const line = `[Info at /${node.path}] ${text} [ack: ${id}]`;
  const lines = printed.get(node.root) ?? new Set<string>();
  printed.set(node.root, lines);
  const isHidden = Boolean(node.tryGetContext(HIDES_NOTES));
  const isAdded = node.metadata.some(({ data }) => String(data).includes(`[ack: ${id}]`));
  if (!isHidden || !isAdded || lines.has(line)) return;
  lines.add(line);
  process.stderr.write(`${line}\n`);
}
