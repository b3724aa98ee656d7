import { describe, expect, it } from '@jest/globals';
import { GRPC_STATUS } from '../http/grpc.ts';
import { ERROR_CODES, ERROR_TABLE } from './error-table.ts';
import {
  grpcNameOfBreak,
  grpcNameOfError,
  grpcStatusOfError,
  grpcStatusText,
} from './grpc-statuses.ts';

describe('the gRPC status of an error', () => {
  it.each(ERROR_CODES)('exists for %s, and says that the call failed', (code) => {
    for (const mayHaveSent of [false, true]) {
      expect(grpcStatusOfError(code, mayHaveSent)).toBeGreaterThan(GRPC_STATUS.OK);
      expect(grpcStatusOfError(code, mayHaveSent)).toBeLessThanOrEqual(GRPC_STATUS.UNAUTHENTICATED);
    }
  });

  it('asks clients to repeat a call only if it was certainly not carried out', () => {
    for (const code of ERROR_CODES) {
      const { replay, status } = ERROR_TABLE[code];
      if (replay !== 'safe') expect(grpcNameOfError(code, true)).not.toBe('UNAVAILABLE');
      if (replay === 'no') expect(grpcNameOfError(code, false)).not.toBe('UNAVAILABLE');
      if (replay === 'safe' && status === 503) {
        expect(grpcNameOfError(code, true)).toBe('UNAVAILABLE');
      }
    }
  });

  it('says of an upstream that could not be reached what a client says of such a server', () => {
    expect(grpcNameOfError('upstream_unavailable', false)).toBe('UNAVAILABLE');
    expect(grpcNameOfError('upstream_unavailable', true)).toBe('UNKNOWN');
  });

  it('says of an upstream that goes away within its response what a client says of such a server', () => {
    expect(grpcNameOfBreak('upstream_unavailable')).toBe('UNAVAILABLE');
    expect(grpcNameOfBreak('upstream_timeout')).toBe('DEADLINE_EXCEEDED');
    expect(grpcNameOfBreak('payload_too_large')).toBe('RESOURCE_EXHAUSTED');
  });

  it('is in documents one name, and the others with the case in which they are sent', () => {
    expect(grpcStatusText('route_not_found')).toBe('UNIMPLEMENTED');
    expect(grpcStatusText('upstream_unavailable')).toBe(
      'UNKNOWN, UNAVAILABLE if nothing was sent or the response had begun',
    );
  });
});
