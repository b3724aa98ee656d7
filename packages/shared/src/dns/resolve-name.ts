import type { LookupAddress } from 'node:dns';

/** The addresses of a name, at least one, and how long they are valid. */
export interface ResolvedName {
  readonly addresses: readonly LookupAddress[];
  readonly ttlMs: number;
}

/** Looks up the addresses of a name. Rejects with an error that has a code if there are none. */
export type ResolveName = (hostname: string) => Promise<ResolvedName>;

/** The codes of the errors that say that there is no such name, or that it has no address. */
export const NO_ADDRESS: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'ENODATA',
  'EAI_NONAME',
  'EAI_NODATA',
]);

/** The code of the error if no name server answered in time. */
export const NO_ANSWER = 'ETIMEOUT';

/** The code of a failed lookup. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** A failed lookup of this name. */
export function lookupError(code: string, hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`lookup of ${hostname}: ${code}`), { code, hostname });
}
