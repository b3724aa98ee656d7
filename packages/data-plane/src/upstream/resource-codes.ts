/** The codes of errors for which this process had no file descriptor, port or memory left: nobody else's fault. */
export const RESOURCE_CODES: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
  'EAI_MEMORY',
]);
