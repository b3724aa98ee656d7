import { expect } from '@jest/globals';
import type { Answer } from './api.ts';

/** The headers of every response. */
export const STANDARD_HEADERS = [
  'x-request-id',
  'x-gateway-latency',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];

/** Expects an error with its code in the header and in the envelope, and the headers of every response. */
export function expectError(answer: Answer, status: number, code: string): void {
  const { headers, json } = answer;
  expect({ status: answer.status, code: json.error?.['code'] }).toEqual({ status, code });
  expect(headers.get('x-gateway-error')).toBe(code);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(json.error?.['request_id']).toBe(headers.get('x-request-id'));
  for (const name of STANDARD_HEADERS)
    expect({ name, value: headers.get(name) }).not.toMatchObject({ value: null });
}
