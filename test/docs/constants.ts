// Numbers of the code by their name, read from the source because most aren't exported.
const ARITHMETIC = /^[\d_\s.*+()/-]+$/;

/** @throws Error if the source has no such number */
export function constantIn(source: string, name: string): number {
  const [, expression = ""] = new RegExp(`^(?:export )?const ${name} =\\s([^;]+);`, "m").exec(source) ?? [];
  const whole = expression.replace(/\b[A-Z][A-Z_]*\b/g, (other) => String(constantIn(source, other)));
  if (!ARITHMETIC.test(whole)) throw new Error(`there is no number ${name}: ${expression}`);
  return Number(new Function(`return ${whole}`)());
}
