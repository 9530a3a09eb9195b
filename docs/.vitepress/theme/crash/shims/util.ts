// The part of node:util that the library's HTTP wrapper needs, in a browser.
const tagged = (tag: string) => (value: unknown) =>
  Object.prototype.toString.call(value) === `[object ${tag}]`;

export const types = {
  isPromise: tagged("Promise"),
  isDate: tagged("Date"),
  isProxy: () => false,
};
