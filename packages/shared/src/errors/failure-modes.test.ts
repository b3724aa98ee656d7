import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ERROR_CODES, ERROR_TABLE } from './error-table.ts';
import { failureModesDocument } from './failure-modes.ts';
import { errorBody, GatewayError } from './gateway-error.ts';

describe('the error table', () => {
  it('matches docs/use/failure-modes.md', () => {
    const file = new URL('../../../../docs/use/failure-modes.md', import.meta.url);
    expect(readFileSync(file, 'utf8')).toBe(failureModesDocument());
  });

  it('gives every code its documented status', () => {
    for (const code of ERROR_CODES) {
      expect(new GatewayError(code, 'x').status).toBe(ERROR_TABLE[code].status);
    }
  });

  it('keeps the codes of the interface at their statuses', () => {
    const promised = {
      invalid_request: 400,
      authentication_failed: 401,
      route_not_found: 404,
      idempotency_conflict: 409,
      rate_limit_exceeded: 429,
      upstream_unavailable: 502,
    } as const;
    for (const [code, status] of Object.entries(promised)) {
      expect(ERROR_TABLE[code as keyof typeof promised].status).toBe(status);
    }
  });
});

describe('errorBody', () => {
  it('leaves details out if there are none', () => {
    expect(JSON.parse(errorBody('not_found', 'no', 'req_1'))).toEqual({
      error: { code: 'not_found', message: 'no', request_id: 'req_1' },
    });
  });
});
