/** What a command of the command line is, and how its arguments are read. */
import { type ParseArgsConfig, parseArgs } from "node:util";
import { type Clock, nearest, visible } from "onceonly/kit";

export type OptionsConfig = NonNullable<ParseArgsConfig["options"]>;

export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** What a line means: a fault or a finding, a success, or a detail. */
export type Tone = "bad" | "good" | "faint";

/** The person at the command line: what is printed, and who is asked. */
export interface Terminal {
  /**
   * Prints one line: line ends and other controls within it are shown as escapes. `printLines` prints several.
   * @param tone its colour, on a terminal that has colours
   */
  print(line: string, tone?: Tone): void;
  /** Whether the operator says yes; `undefined` without a terminal to ask on. */
  confirm(question: string): Promise<boolean | undefined>;
  /**
   * Shows how far long work has got, until the next line is printed. `total` is absent if it isn't known, as for a scan.
   * @default - nothing is shown, because no person is watching
   */
  progress?(done: number, total?: number): void;
  readonly clock: Clock;
  /** The variables of the environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface CommandCall {
  readonly values: OptionValues;
  readonly positionals: readonly string[];
  readonly terminal: Terminal;
}

interface Runs {
  /** All that it reads: another option of the command is refused. */
  readonly options: OptionsConfig;
  /** Resolves to the exit status: 0, or 1 where nothing was found or nothing changed. */
  run(input: CommandCall): Promise<0 | 1>;
}

/** One of the ways to call a command. */
export interface CommandForm extends Runs {
  /** As in `a group doesn't accept --scope`. */
  readonly name: string;
  /**
   * Whether a call has this form. The first form that says so is taken.
   * @default - every call has it
   */
  is?(call: Omit<CommandCall, "terminal">): boolean;
}

/** The help text, and the function that runs. */
export type CliCommand = { readonly usage: string } & (Runs | { readonly forms: readonly CommandForm[] });

/** The command line is wrong: the exit status is 2, and nothing was sent. */
export class UsageError extends Error {
  /** @param usage the correct usage, printed on separate lines */
  constructor(what: string, { usage, ...options }: ErrorOptions & { readonly usage?: string } = {}) {
    super(usage === undefined ? visible(what) : `${visible(what)}\n\n${usage}`, options);
  }
}

/** @throws UsageError */
export async function runCommand(
  command: CliCommand,
  args: readonly string[],
  terminal: Terminal,
): Promise<0 | 1> {
  const forms = formsOf(command);
  const options: OptionsConfig = Object.assign({}, ...forms.map((form) => form.options));
  const { values, positionals, given } = readArguments(options, command.usage, args);
  const safe = safeTerminal(terminal);
  if (values.help) {
    printLines(safe, command.usage);
    return 0;
  }
  checkGiven(values, positionals);
  const form = forms.find(({ is }) => is?.({ values, positionals }) ?? true)!;
  for (const name of given) checkTaken(name, form, forms);
  return form.run({ values, positionals, terminal: safe });
}

/** Every line a command prints or asks goes through here, which escapes each field of a record or a queue. */
const safeTerminal = (terminal: Terminal): Terminal => ({
  ...terminal,
  print: (line, tone) => terminal.print(visible(line), tone),
  confirm: (question) => terminal.confirm(visible(question)),
});

/** Prints several lines. The text is the CLI's own, or JSON: text from a record in it must not contain line ends. */
export function printLines(terminal: Pick<Terminal, "print">, text: string): void {
  for (const line of text.split("\n")) terminal.print(line);
}

export const formsOf = (command: CliCommand): readonly CommandForm[] =>
  "forms" in command ? command.forms : [{ name: "it", ...command }];

function readArguments(options: OptionsConfig, usage: string, args: readonly string[]) {
  const { values, positionals, tokens } = parsed(options, usage, args);
  const given = tokens.flatMap((token) => (token.kind === "option" ? token.name : []));
  const twice = given.find(
    (name, place) =>
      options[name]?.type === "string" && !options[name].multiple && given.indexOf(name) < place,
  );
  if (twice !== undefined) throw new UsageError(`--${twice} was given twice, but accepts only one value`);
  return { values, positionals, given };
}

function parsed(options: OptionsConfig, usage: string, args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      tokens: true,
      options: { ...options, help: { type: "boolean", short: "h" } },
    });
  } catch (error) {
    throw argumentError((error as Error).message, options, usage);
  }
}

/** Says what `parseArgs` says, in our words, and which option was probably meant. */
function argumentError(message: string, options: OptionsConfig, usage: string): UsageError {
  const [, unknown] = /^Unknown option '(--?[^']*)'/.exec(message) ?? [];
  if (unknown !== undefined) return unknownOption(unknown, options, usage);
  const [, option, fault] =
    /^Option '(?:-\w, )?(--?[\w-]+)[^']*' (argument|does not take)/.exec(message) ?? [];
  if (option === undefined) return new UsageError(message, { usage });
  return new UsageError(
    fault === "argument"
      ? `${option} needs a value (write ${option}=-x if the value starts with a dash)`
      : `${option} doesn't accept a value`,
  );
}

function unknownOption(option: string, options: OptionsConfig, usage: string): UsageError {
  const meant = nearest(option.replace(/^-+/, ""), [...Object.keys(options), "help"]);
  return meant === undefined
    ? new UsageError(`unknown option ${option}`, { usage })
    : new UsageError(`unknown option ${option}: did you mean --${meant}?`);
}

/** Rejects arguments that the command would silently ignore. @throws UsageError */
function checkTaken(option: string, form: CommandForm, forms: readonly CommandForm[]): void {
  if (option in form.options) return;
  const others = forms.filter(({ options }) => option in options).map(({ name }) => name);
  throw new UsageError(`${form.name} doesn't accept --${option} (accepted by: ${others.join(", ")})`);
}

/** An empty scope would mean "no scope", which has other keys. @throws UsageError */
function checkGiven(values: OptionValues, positionals: readonly string[]): void {
  const empty = Object.keys(values).find((name) => [values[name]].flat().includes(""));
  const what = empty === undefined ? "an argument" : `--${empty}`;
  if (empty !== undefined || positionals.includes(""))
    throw new UsageError(`${what} is empty: is a shell variable unset?`);
}

/** Reads a required option. @throws UsageError */
export function required(values: OptionValues, name: string): string {
  const value = values[name];
  if (typeof value === "string" && value !== "") return value;
  throw new UsageError(`--${name} is required`);
}

/** The number that an option names. @throws UsageError */
export function wholeNumber(values: OptionValues, name: string, least: number, most?: number): number {
  const number = Number(values[name] || Number.NaN);
  if (Number.isInteger(number) && number >= least && number <= (most ?? number)) return number;
  throw new UsageError(
    `--${name} must be a whole number ${most === undefined ? `of at least ${least}` : `from ${least} to ${most}`} (got ${values[name] ?? "nothing"})`,
  );
}

/** What was given for an option that may be repeated. */
export const listOf = (value: OptionValues[string]): readonly string[] => (Array.isArray(value) ? value : []);

/** A number of things, in words. */
export const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

/** The end of a message about a misspelt name: empty if none is close. */
export function didYouMean(name: string, candidates: readonly string[]): string {
  const meant = nearest(name, candidates);
  return meant === undefined ? "" : ` (did you mean \`${meant}\`?)`;
}

/** The one argument of a command. @throws UsageError */
export function onlyArgument(positionals: readonly string[], what: string): string {
  const [argument, ...more] = positionals;
  if (argument !== undefined && more.length === 0) return argument;
  throw new UsageError(`expected one ${what}, got ${positionals.length}`);
}

/** For a command that takes options alone. @throws UsageError */
export function noArgument(positionals: readonly string[], command: string): void {
  if (positionals.length > 0)
    throw new UsageError(`${command} accepts no arguments, only options (got ${positionals.length})`);
}
