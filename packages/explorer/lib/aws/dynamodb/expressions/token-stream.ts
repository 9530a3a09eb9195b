/** Reads an expression token by token. Its errors use DynamoDB's words for that kind of expression. */
import { type DynamoDBError, invalid } from "../dynamodb-error.ts";
import type { Placeholders } from "./placeholders.ts";
import { type Token, tokenize } from "./tokenizer.ts";

export type ExpressionKind =
  | "ConditionExpression"
  | "FilterExpression"
  | "KeyConditionExpression"
  | "ProjectionExpression"
  | "UpdateExpression";

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-expression-parameters */
const MAX_BYTES = 4096;
const MAX_OPERATORS = 300;

export class TokenStream {
  readonly placeholders: Placeholders;
  readonly #kind: ExpressionKind;
  readonly #tokens: readonly Token[];
  #position = 0;
  #operators = 0;

  constructor(kind: ExpressionKind, expression: string, placeholders: Placeholders) {
    this.#kind = kind;
    this.placeholders = placeholders;
    if (expression === "") throw this.error("The expression can not be empty;");
    const bytes = Buffer.byteLength(expression);
    if (bytes > MAX_BYTES) {
      throw this.error(`Expression size has exceeded the maximum allowed size; expression size: ${bytes}`);
    }
    this.#tokens = tokenize(expression);
  }

  get next(): Token {
    return this.#tokens[this.#position] as Token;
  }

  get afterNext(): Token {
    return this.#tokens[this.#position + 1] ?? this.next;
  }

  take(): Token {
    const token = this.next;
    if (token.kind !== "end") this.#position++;
    return token;
  }

  takeOf(kind: Token["kind"]): string {
    if (this.next.kind !== kind) throw this.syntaxError();
    return this.take().text;
  }

  /** Consumes the next token if it is this symbol, and returns whether it was. */
  takesSymbol(symbol: string): boolean {
    const isNext = this.next.kind === "symbol" && this.next.text === symbol;
    if (isNext) this.take();
    return isNext;
  }

  /** Keywords may be in upper or lower case. */
  takesKeyword(keyword: string): boolean {
    const isNext = this.nextIsKeyword(keyword);
    if (isNext) this.take();
    return isNext;
  }

  nextIsKeyword(keyword: string): boolean {
    return this.next.kind === "word" && this.next.text.toUpperCase() === keyword;
  }

  expectSymbol(symbol: string): void {
    if (!this.takesSymbol(symbol)) throw this.syntaxError();
  }

  expectEnd(): void {
    if (this.next.kind !== "end") throw this.syntaxError();
  }

  countOperator(): void {
    this.#operators++;
    if (this.#operators > MAX_OPERATORS) {
      throw this.error(`The expression contains too many operators; operator count: ${this.#operators}`);
    }
  }

  syntaxError(): DynamoDBError {
    const near = this.#tokens.slice(Math.max(0, this.#position - 1), this.#position + 2);
    const text = near.filter(({ kind }) => kind !== "end").map((token) => token.text);
    return this.error(`Syntax error; token: "${this.next.text}", near: "${text.join(" ")}"`);
  }

  error(message: string): DynamoDBError {
    return invalid(`Invalid ${this.#kind}: ${message}`);
  }
}

/** Reads a whole expression; returns `undefined` when none is given. */
export function parseExpression<Parsed>(
  kind: ExpressionKind,
  expression: string | undefined,
  placeholders: Placeholders,
  parse: (stream: TokenStream) => Parsed,
): Parsed | undefined {
  if (expression === undefined || expression === null) return undefined;
  const stream = new TokenStream(kind, expression, placeholders);
  const parsed = parse(stream);
  stream.expectEnd();
  return parsed;
}
