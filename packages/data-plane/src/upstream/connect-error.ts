import type { ConnectFailure } from '@gateway/http1/client/connect';
import { ADDRESS_REFUSED } from './dns/guarded-lookup.ts';
import type { AttemptError } from './upstream-client.ts';

type ConnectError = Extract<
  AttemptError['name'],
  'connect_refused' | 'connect_timeout' | 'connect_failed' | 'tls_failed' | 'address_refused'
>;

const ERRORS: Readonly<Record<string, ConnectError>> = {
  ECONNREFUSED: 'connect_refused',
  ETIMEDOUT: 'connect_timeout',
  [ADDRESS_REFUSED]: 'address_refused',
};

/** The name of a failure to connect in the record of the request. */
export function connectError(failure: ConnectFailure): ConnectError {
  if (failure.phase === 'tls') return 'tls_failed';
  if (failure.phase === 'timeout') return 'connect_timeout';
  return ERRORS[failure.code ?? ''] ?? 'connect_failed';
}
