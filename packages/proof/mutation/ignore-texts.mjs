// Leaves messages for people alone: literals with a space in them. Names, codes, states and patterns have none.
// Expressions inside a message are still mutated, unless they are only a name.
export const strykerPlugins = [{ kind: "Ignore", name: "texts", value: { shouldIgnore } }];

function shouldIgnore({ node }) {
  return isText(node) ? "text for people" : undefined;
}

function isText(node) {
  if (node.type === "StringLiteral") return node.value.includes(" ");
  if (node.type !== "TemplateLiteral") return false;
  return node.quasis.some(({ value }) => value.raw.includes(" ")) && node.expressions.every(isName);
}

function isName(node) {
  return (
    node.type === "Identifier" || (node.type === "MemberExpression" && isName(node.object) && !node.computed)
  );
}
