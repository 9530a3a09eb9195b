// Load is for this machine only: any other address is rejected before anything is sent. Pure.

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** @returns scheme, host and port. @throws Error that names the option, for anything but plain HTTP on loopback */
export function loopbackOrigin(option: string, given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === "http:" && LOOPBACK.test(url.hostname)) return url.origin;
  throw new Error(
    `${option} must be http:// and lead to this machine (localhost, 127.x.x.x or [::1]); got "${given}"`,
  );
}
