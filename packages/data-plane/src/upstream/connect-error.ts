import type { ConnectFailure } from '@gateway/http/sockets/connect';
import { ADDRESS_REFUSED, DNS_FAILED, NAME_NOT_FOUND } from './dns/guarded-lookup.ts';
import type { AttemptErrorName } from './attempt-end.ts';
import { RESOURCE_CODES } from './resource-codes.ts';

const ERRORS: Readonly<Record<string, AttemptErrorName>> = {
  ECONNREFUSED: 'connect_refused',
  ETIMEDOUT: 'connect_timeout',
  [ADDRESS_REFUSED]: 'address_refused',
  [DNS_FAILED]: 'dns_failed',
  [NAME_NOT_FOUND]: 'name_not_found',
};

/** The name of a failure to connect in the record of the request. */
export function connectError(failure: ConnectFailure): AttemptErrorName {
  switch (failure.phase) {
    case 'tls':
      return 'tls_failed';
    case 'alpn':
      return 'http2_not_chosen';
    case 'timeout':
      return failure.late ? 'gateway_paused' : 'connect_timeout';
    case 'internal':
      return 'internal_error';
    case 'connect': {
      const code = failure.code ?? '';
      return RESOURCE_CODES.has(code) ? 'system_resources' : (ERRORS[code] ?? 'connect_failed');
    }
  }
}
