/** Builds an SQL statement with named parameters: the text and the values refer to them by name. Pure. */
import type { SqlValue } from "./sql-client.ts";

export interface SqlStatement {
  readonly action: "INSERT" | "UPDATE" | "SELECT" | "DELETE";
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** The placeholder of each parameter in the text: `$1` for the first name, and so on. */
export type Placeholders<Name extends string> = Readonly<Record<Name, string>>;

/**
 * @param names of the parameters, in numeric order
 * @param write is called once: the text is the same for all values
 */
export function statement<Name extends string>(
  action: SqlStatement["action"],
  names: readonly Name[],
  write: (placeholders: Placeholders<Name>) => string,
): (values: Readonly<Record<Name, SqlValue>>) => SqlStatement {
  const placeholders = Object.fromEntries(names.map((name, index) => [name, `$${index + 1}`]));
  const text = write(placeholders as Placeholders<Name>);
  return (values) => ({ action, text, values: names.map((name) => values[name]) });
}
