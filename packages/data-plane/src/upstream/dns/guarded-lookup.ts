import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { NO_ADDRESS } from '@gateway/shared/dns/resolve-name';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import { RESOURCE_CODES } from '../resource-codes.ts';
import { bareHost, isDeniedAddress, isDeniedHost } from '@gateway/shared/net/upstream-addresses';

/** The code of the error for a name that resolves to denied addresses only. */
export const ADDRESS_REFUSED = 'EADDRREFUSED';

/** The code of the error if the name servers did not answer: the resolver's own code may be that of a connection. */
export const DNS_FAILED = 'EDNSFAILED';
/** The code of the error if the name has no address. */
export const NAME_NOT_FOUND = 'ENAMENOTFOUND';

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
        callback(failedLookup(error), '', 0);
        return;
      }
      const allowed = found.filter(({ address }) => !isDeniedAddress(address, deny));
      const [first] = allowed;
      if (first === undefined) {
        callback(failure('UPSTREAM_DENY_CIDRS refuses the address', ADDRESS_REFUSED), '', 0);
      } else if (options.all === true) {
        callback(null, allowed);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

function failedLookup(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  const code = error.code ?? '';
  if (RESOURCE_CODES.has(code)) return error;
  return failure(error.message, NO_ADDRESS.has(code) ? NAME_NOT_FOUND : DNS_FAILED);
}

function failure(message: string, code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}

/** Whether the URL contains a denied address. A name is checked when it is resolved. */
export function isDeniedOrigin(origin: string, deny: AddressRanges): boolean {
  return isDeniedHost(bareHost(new URL(origin)), deny);
}
