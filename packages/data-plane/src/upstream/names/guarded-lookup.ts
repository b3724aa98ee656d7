import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import {
  bareHost,
  isDeniedAddress,
  isDeniedHost as isDenied,
} from '@gateway/shared/net/upstream-addresses';

/** Code of the error for a name that resolves to addresses where no upstream may be, and to no other. */
export const ADDRESS_REFUSED = 'EADDRREFUSED';

/** The part of `dns.lookup` that is used: every address of a name. */
export type NameResolver = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/**
 * Resolves a name and leaves out the addresses where no upstream may be, so that a name cannot be
 * pointed at them after its URL was checked.
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

/** Whether no upstream may be at the origin, as its URL says already, before any name is resolved. */
export function isDeniedHost(origin: string, deny: AddressRanges): boolean {
  return isDenied(bareHost(new URL(origin)), deny);
}
