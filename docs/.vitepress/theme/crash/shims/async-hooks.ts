// The library does without an async context before Node 24, and this is what it finds in a browser.
export class AsyncLocalStorage {}
