import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { bareHost } from '@gateway/shared/net/upstream-addresses';
import type { AddressRanges } from '@gateway/shared/net/client-address';

/** Code of the error for a name that resolves to addresses where no upstream may be, and to no other. */
export const ADDRESS_REFUSED = 'EADDRREFUSED';

/**
 * Resolves a name and leaves out the addresses where no upstream may be, so that a name cannot be
 * pointed at them after its URL was checked.
 */
export function guardedLookup(deny: AddressRanges): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      const allowed = found.filter((address) => !deny.has(address.address));
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

/** Whether the origin holds an address, not a name, and no upstream may be there. */
export function isDeniedHost(origin: string, deny: AddressRanges): boolean {
  return deny.has(bareHost(new URL(origin)));
}
