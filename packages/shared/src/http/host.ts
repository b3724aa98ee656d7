const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

/** Whether a `Host` field is a uri-host, and a port (RFC 9110 section 7.2): no user info, no path. */
export function isHostField(text: string): boolean {
  return HOST.test(text);
}
