const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

/**
 * The authority of a request target in absolute form, user info included; undefined for any other form (RFC 9112 section
 * 3.2.2).
 */
export function authorityOf(target: string): string | undefined {
  return target.startsWith('/') ? undefined : /^https?:\/\/([^/?#]*)/i.exec(target)?.[1];
}

/** Whether a `Host` field is a uri-host with an optional port (RFC 9110 section 7.2), without user info or path. */
export function isHostField(text: string): boolean {
  return HOST.test(text);
}
