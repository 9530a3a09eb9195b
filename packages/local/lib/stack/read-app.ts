// Reads the app that is to run: synthesizes it, or reads its template.
import { basename, dirname, resolve } from "node:path";
import { readAssembly, type SynthesizedStack } from "./assembly.ts";
import { readTemplate, templateFileIn } from "./sam/read-template.ts";
import { type Assembly, synthesize } from "./synthesize.ts";
import type { UndoList } from "./undo-list.ts";

export interface AppOptions {
  /**
   * The folder of a CDK app (with a cdk.json), or a cdk.out that it synthesized. A template of CloudFormation or SAM does as
   * well, and so does its folder.
   */
  readonly folder: string;
  /**
   * CDK context for the synthesis.
   * @default { ephemeral: "true" }: local resources are thrown away
   */
  readonly context?: Readonly<Record<string, string>> | undefined;
  /**
   * The names of stacks and stages to run, as `cdk list` prints them: `Prod/Orders`, or `Prod` for all of that stage.
   * @default - all
   */
  readonly stacks?: readonly string[] | undefined;
  /** Stops a start that is under way. */
  readonly signal?: AbortSignal | undefined;
}

/** An app, as it was read at one time. */
export interface AppReading {
  readonly stacks: readonly SynthesizedStack[];
  /** The folder that it was synthesized into; `undefined` for a template or an assembly, which are read in place. */
  readonly assembly: Assembly | undefined;
  /** The template, the folder of the app, or the assembly that is read in place. */
  readonly source: string;
  readonly isTemplate: boolean;
}

/** Reads the app in its current state, and returns the requested stacks. */
export async function readApp(
  options: AppOptions,
  stopping: AbortSignal,
  undo: UndoList,
): Promise<AppReading> {
  const { context = { ephemeral: "true" }, signal } = options;
  const template = templateFileIn(options.folder);
  if (template !== undefined) {
    const stacks = chosenStacks([readTemplate(template)], options);
    return { stacks, assembly: undefined, source: template, isTemplate: true };
  }
  const path = resolve(options.folder);
  const folder = /^(cdk|manifest)\.json$/.test(basename(path)) ? dirname(path) : path;
  const assembly = await synthesize({
    folder,
    context,
    signal: AbortSignal.any([stopping, ...(signal ? [signal] : [])]),
  });
  undo.add(assembly.remove);
  const stacks = chosenStacks(readAssembly(assembly.folder), options);
  const isInPlace = assembly.folder === folder;
  return { stacks, assembly: isInPlace ? undefined : assembly, source: folder, isTemplate: false };
}

/** @throws Error that lists the stacks, for a name that none of them has */
function chosenStacks(
  stacks: readonly SynthesizedStack[],
  { stacks: wanted }: AppOptions,
): readonly SynthesizedStack[] {
  if (wanted === undefined || wanted.length === 0) return stacks;
  const isMeant = ({ name, place }: SynthesizedStack, choice: string) =>
    name === choice || place === choice || place.startsWith(`${choice}/`);
  const unknown = wanted.find((choice) => !stacks.some((stack) => isMeant(stack, choice)));
  if (unknown !== undefined) {
    const places = stacks.map(({ place }) => place).join(", ");
    throw new Error(`the app has no stack or stage ${unknown}: choose one of ${places}`);
  }
  return stacks.filter((stack) => wanted.some((choice) => isMeant(stack, choice)));
}
