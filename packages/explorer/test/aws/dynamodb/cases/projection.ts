/** Projection expressions. */
import { dynalite, guide, recorded } from "./case.ts";
import { projectionCases } from "./expression-case.ts";
import { L, M, N, S } from "./given.ts";

const ITEM = {
  n: N(5),
  arr: L(N(0), N(1), M({ a: N(1), b: N(2) }), L(N(7), N(8))),
  obj: M({ x: N(1), y: M({ z: N(3) }) }),
  "with.dot": S("dotted"),
};

const gives = projectionCases(ITEM, guide("Expressions.ProjectionExpressions"));
const nested = projectionCases(ITEM, recorded("tier1/getItem/projection"));
const seen = projectionCases(ITEM, dynalite("getItem"));

export const projectionExpressionCases = [
  gives("n", { n: N(5) }),
  gives("n, obj", { n: N(5), obj: ITEM.obj }),
  gives("n, nope", { n: N(5) }),
  gives("nope", {}),
  nested("obj.y.z, obj.x", { obj: M({ y: M({ z: N(3) }), x: N(1) }) }),
  nested("obj.nope", {}),
  nested("obj[0]", {}),
  nested("arr[1], arr[0]", { arr: L(N(0), N(1)) }),
  nested("arr[3]", { arr: L(L(N(7), N(8))) }),
  nested("arr[2].a, arr[3][1], arr[2].b", { arr: L(M({ a: N(1), b: N(2) }), L(N(8))) }),
  nested("arr[9]", {}),
  nested("arr[1].x", {}),
  nested(" arr[0] ,obj.x ", { arr: L(N(0)), obj: M({ x: N(1) }) }),
  gives("#d", { "with.dot": S("dotted") }, { names: { "#d": "with.dot" } }),
  gives("#o.#x", { obj: M({ x: N(1) }) }, { names: { "#o": "obj", "#x": "x" } }),
  gives("", "is refused"),
  gives("n,", "is refused"),
  gives("n obj", "is refused"),
  gives("n, :v", "is refused"),
  gives("#nope", "is refused"),
  gives("n", "is refused", { names: { "#n": "n" } }),
  gives("status", "is refused"),
  seen("obj, obj.x", "is refused"),
  seen("n, n", "is refused"),
  seen("arr[0], arr[0]", "is refused"),
  seen("obj.x, obj[0]", "is refused"),
];
