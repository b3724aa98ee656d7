import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import { bareHost, isDeniedAddress, isDeniedHost } from '@gateway/shared/net/upstream-addresses';

/** The code of the error for a name that resolves to denied addresses only. */
export const ADDRESS_REFUSED = 'EADDRREFUSED';

/** The part of `dns.lookup` that is used: all addresses of a name. */
export type NameResolver = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/**
 * Resolves a name and removes the denied addresses, so that the name cannot be changed to point at them after the URL
 * was checked.
 */
export function guardedLookup(deny: AddressRanges, resolve: NameResolver = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      const allowed = found.filter(({ address }) => !isDeniedAddress(address, deny));
      const [first] = allowed;
      if (first === undefined) {
        const refused: NodeJS.ErrnoException = new Error('UPSTREAM_DENY_CIDRS refuses the address');
        refused.code = ADDRESS_REFUSED;
        callback(refused, '', 0);
      } else if (options.all === true) {
        callback(null, allowed);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

/** Whether the URL contains a denied address. A name is checked when it is resolved. */
export function isDeniedOrigin(origin: string, deny: AddressRanges): boolean {
  return isDeniedHost(bareHost(new URL(origin)), deny);
}
