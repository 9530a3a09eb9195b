// Notes say what synthesis could not check. The CLI prints them as `[Info at /Shop/Fn]`.
import { Annotations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/**
 * Apps by `cdk init` set it since 2.253. The CLI then prints a validation report, which leaves notes out as soon as the app has a
 * warning, and leaves stages out unless they are selected.
 */
const HIDES_NOTES = "@aws-cdk/core:annotationsInValidationReport";

const printed = new WeakMap<IConstruct, Set<string>>();

/** Adds a note, and prints it where the CLI would not. A note that was acknowledged by its id is left out. */
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
