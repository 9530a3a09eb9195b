/** Lines with lines below them, as people read them. */
export interface TraceBranch {
  readonly line: string;
  readonly below?: readonly TraceBranch[];
}

/** The branches below a line, one a line, in their order. */
export function treeLines(branches: readonly TraceBranch[], indent = ""): string[] {
  return branches.flatMap(({ line, below = [] }, place) => {
    const isLast = place === branches.length - 1;
    return [
      `${indent}${isLast ? "└" : "├"} ${line}`,
      ...treeLines(below, `${indent}${isLast ? "  " : "│ "}`),
    ];
  });
}
