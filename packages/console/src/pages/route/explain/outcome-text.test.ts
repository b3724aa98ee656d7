import { describe, expect, it } from '@jest/globals';
import type { Explanation } from '../../../api/client.ts';
import { factsOf, outcomeText } from './outcome-text.ts';

const forward = {
  decision: 'forward' as const,
  stage: 'forward' as const,
  status: null,
  code: null,
  grpc_status: null,
  reason: '',
  retry_after_seconds: null,
};

describe('the outcome of a request in words', () => {
  it('says who answers, with what', () => {
    expect(outcomeText(forward)).toBe('Forwarded to an upstream');
    const refused = { status: 429, code: 'rate_limit_exceeded', retry_after_seconds: 17 };
    expect(outcomeText({ ...forward, decision: 'refuse', ...refused })).toBe(
      'Refused with 429 rate_limit_exceeded, retry after 17 s',
    );
    expect(outcomeText({ ...forward, decision: 'refuse', ...refused, grpc_status: 8 })).toContain(
      'with 429 rate_limit_exceeded gRPC 8 RESOURCE_EXHAUSTED, retry after',
    );
    expect(outcomeText({ ...forward, decision: 'answer', status: 201 })).toBe(
      'Answered by the gateway itself with 201',
    );
    expect(outcomeText({ ...forward, decision: 'wait' })).toMatch(/^Waits/);
    expect(outcomeText({ ...forward, decision: 'elsewhere' })).toMatch(/^Not a request/);
  });
});

describe('the facts of an explanation', () => {
  const asked: Explanation = {
    ...{ data_plane: 'dp-1', region: 'eu', environment: 'production', config_version: 1 },
    ...{ route_id: 'rte_1', reached_by: null, outcome: forward, stages: [], version: null },
    authentication: { type: 'none', token_id: null, refused_by: null, failures_remaining: 1 },
    ...{ quota: null, idempotency: null, rewrite: null, cors: null, upstreams: null },
    ...{ retry_policy: null, grpc: null, trailers: null, mirror: null, timeouts: null },
    ...{ locations: null, request_headers: null },
  };
  const factOf = (name: string, explanation: Explanation) =>
    new Map(factsOf(explanation)).get(name);

  it('have the statuses that are retried, and those against the upstream, of gRPC calls only', () => {
    const reason = 'No gRPC status is retried.';
    const grpc = { retried: [], against_upstream: ['UNAVAILABLE'], reason };
    expect(factOf('gRPC statuses', { ...asked, grpc })).toBe(reason);
    expect(factOf('gRPC statuses', asked)).toBeUndefined();
  });
});
