import { expect } from '@jest/globals';
import type { ErrorCode } from '../src/errors/error-table.ts';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  text(): Promise<string>;
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly request_id: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
}

/** The headers of every response. */
export function expectGatewayHeaders(headers: Headers): void {
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/);
  for (const name of ['x-gateway-latency', 'x-ratelimit-remaining', 'x-ratelimit-limit']) {
    expect(headers.get(name)).toMatch(/^\d+$/);
  }
  expect(headers.get('x-ratelimit-reset')).toMatch(/^[1-9]\d*$/);
}

/** Checks that the gateway itself rejected the request, with the error envelope and every header. */
export async function expectRefusal(
  answer: Answer,
  status: number,
  code: ErrorCode,
): Promise<ErrorBody> {
  const text = await answer.text();
  expect({ status: answer.status, code: answer.headers.get('x-gateway-error'), text }).toEqual({
    status,
    code,
    text: expect.any(String),
  });
  expectGatewayHeaders(answer.headers);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body = JSON.parse(text) as { readonly error: ErrorBody };
  expect(Object.keys(body)).toEqual(['error']);
  expect(body.error).toMatchObject({
    code,
    message: expect.stringMatching(/./),
    request_id: answer.headers.get('x-request-id'),
  });
  if (status === 401) expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
  return body.error;
}
