const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

/**
 * What a target in absolute form names as its host, user info included; undefined for any other form
 * (RFC 9112 section 3.2.2).
 */
export function authorityOf(target: string): string | undefined {
  return target.startsWith('/') ? undefined : /^https?:\/\/([^/?#]*)/i.exec(target)?.[1];
}

/** Whether a `Host` field is a uri-host, and a port (RFC 9110 section 7.2): no user info, no path. */
export function isHostField(text: string): boolean {
  return HOST.test(text);
}
