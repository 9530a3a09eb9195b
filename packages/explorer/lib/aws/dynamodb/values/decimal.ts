/** DynamoDB's numbers: up to 38 decimal digits, without loss. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes.Number */
import { invalid } from "../dynamodb-error.ts";

/** `digits` × 10^`exponent`; `digits` does not end in zero unless it is zero. */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

const NUMBER = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?$/;
const MAX_DIGITS = 38;
const MAX_MAGNITUDE = 125;
const MIN_MAGNITUDE = -130;

/**
 * @throws DynamoDBError `ValidationException` for a string that isn't a number, or a number that can't be stored
 */
export function parseDecimal(text: string): Decimal {
  const match = NUMBER.exec(text);
  if (match === null) throw invalid(`The parameter cannot be converted to a numeric value: ${text}`);
  const [, sign, whole = "", fraction = "", bareFraction = "", exponent = "0"] = match;
  const digits = BigInt(whole + fraction + bareFraction);
  return storable(sign === "-" ? -digits : digits, Number(exponent) - fraction.length - bareFraction.length);
}

/** Plain digits, as in DynamoDB's answers: without exponent, leading zeros or trailing zeros. */
export function formatDecimal({ digits, exponent }: Decimal): string {
  const sign = digits < 0n ? "-" : "";
  const text = String(digits < 0n ? -digits : digits);
  if (exponent >= 0) return sign + text + "0".repeat(exponent);
  const padded = text.padStart(1 - exponent, "0");
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

export function compareDecimals(first: Decimal, second: Decimal): number {
  const { a, b } = aligned(first, second);
  return a < b ? -1 : Number(a > b);
}

export function addDecimals(first: Decimal, second: Decimal): Decimal {
  const { a, b, exponent } = aligned(first, second);
  return storable(a + b, exponent);
}

export function negateDecimal({ digits, exponent }: Decimal): Decimal {
  return { digits: -digits, exponent };
}

function aligned(first: Decimal, second: Decimal) {
  const exponent = Math.min(first.exponent, second.exponent);
  return { a: scaled(first, exponent), b: scaled(second, exponent), exponent };
}

function scaled({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}

function storable(digits: bigint, exponent: number): Decimal {
  if (digits === 0n) return { digits, exponent: 0 };
  const text = String(digits < 0n ? -digits : digits);
  let significantDigits = text.length;
  // A pattern such as /0+$/ begins again at each zero.
  while (text[significantDigits - 1] === "0") significantDigits--;
  const significant = text.slice(0, significantDigits);
  const magnitude = exponent + text.length - 1;
  if (magnitude > MAX_MAGNITUDE) {
    throw invalid("Number overflow. Attempting to store a number with magnitude larger than supported range");
  }
  if (magnitude < MIN_MAGNITUDE) {
    throw invalid(
      "Number underflow. Attempting to store a number with magnitude smaller than supported range",
    );
  }
  if (significant.length > MAX_DIGITS) {
    throw invalid("Attempting to store more than 38 significant digits in a Number");
  }
  return {
    digits: digits < 0n ? -BigInt(significant) : BigInt(significant),
    exponent: exponent + text.length - significant.length,
  };
}
