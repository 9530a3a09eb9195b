// The variables of Fn::Sub: `${Name}` and `${Resource.Attribute}`. `${!Literal}` stands for `${Literal}`.
const VARIABLE = /\$\{(!?)([^{}]*)\}/g;

export function substitute(template: string, replacementOf: (name: string) => unknown): string {
  return template.replaceAll(VARIABLE, (_, literal: string, name: string) =>
    literal ? `\${${name}}` : String(replacementOf(name.trim())),
  );
}

export function variablesOf(template: string): string[] {
  const names: string[] = [];
  substitute(template, (name) => names.push(name));
  return names;
}
