// One field of a cron expression: `*`, `5`, `MON`, `1-5`, `0/15`, and lists of these. Pure.

/** The values that the field stands for, the lowest first. */
export function fieldValues(
  field: string | undefined,
  min: number,
  max: number,
  names: readonly string[] = [],
): number[] {
  const values = new Set<number>();
  for (const part of String(field).split(",")) {
    for (const value of partValues(part, min, max, names)) values.add(value);
  }
  return [...values].sort((a, b) => a - b);
}

function partValues(part: string, min: number, max: number, names: readonly string[]): number[] {
  const [range = "", stepText] = part.split("/");
  const step = stepText === undefined ? 1 : Number(stepText);
  const [fromText = "", toText] = range.split("-");
  const numberOf = (text: string) => {
    const named = names.indexOf(text.toUpperCase());
    return named < 0 ? Number(text === "" ? Number.NaN : text) : named + min;
  };
  const from = range === "*" ? min : numberOf(fromText);
  const onlyOne = range !== "*" && toText === undefined && stepText === undefined;
  const to = onlyOne ? from : toText === undefined ? max : numberOf(toText);
  const isValid = [from, to, step].every(Number.isInteger) && step > 0 && from >= min && to <= max;
  if (!isValid) throw new Error(`${part} is no field of a cron expression: values go from ${min} to ${max}`);
  // SAT-MON goes over the end of the week.
  const end = to < from ? to + (max - min + 1) : to;
  const values: number[] = [];
  for (let value = from; value <= end; value += step) {
    values.push(value > max ? value - (max - min + 1) : value);
  }
  return values;
}
