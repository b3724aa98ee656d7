import { expect, it } from '@jest/globals';
import { retryText } from './retry-text.ts';

const post = { method: 'POST' };
const retry = (retried: boolean, why: string) => ({ retry: { retried, why } });

it('says what followed an attempt, and why', () => {
  expect(retryText(retry(true, 'nothing_sent'), post)).toBe(
    'Retried: nothing had reached the upstream.',
  );
  expect(retryText({ status: 503, ...retry(false, 'method_not_idempotent') }, post)).toBe(
    'Not retried: it was sent, and repeating POST could do harm.',
  );
});

it('shows a reason that it does not know as it is', () => {
  expect(retryText(retry(false, 'of_the_future'), post)).toBe('Not retried: of_the_future.');
  expect(retryText(retry(false, 'constructor'), post)).toBe('Not retried: constructor.');
});

it('says nothing of attempts that needed no retry', () => {
  expect(retryText({ status: 200 }, post)).toBeUndefined();
  const notFound = { status: 404, ...retry(false, 'status_not_retried') };
  expect(retryText(notFound, post)).toBeUndefined();
  const notFoundCall = { status: 200, grpc_status: 5, ...retry(false, 'status_not_retried') };
  expect(retryText(notFoundCall, post)).toBeUndefined();
  const failedCall = { status: 200, grpc_status: 13, ...retry(false, 'status_not_retried') };
  expect(retryText(failedCall, post)).toBe('Not retried: the route does not retry this status.');
});
