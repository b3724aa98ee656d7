import type { Explanation } from '@gateway/shared/explain/explanation';

/** An explanation of a request without a credential. */
export const REFUSED_CALLER: Explanation = {
  data_plane: 'dp-1',
  region: 'first',
  environment: null,
  config_version: 1,
  route_id: null,
  reached_by: null,
  outcome: {
    decision: 'refuse',
    stage: 'authenticate',
    status: 401,
    code: 'authentication_failed',
    reason: 'The request has no token in a header that the route accepts.',
    retry_after_seconds: null,
  },
  stages: [],
  authentication: {
    type: 'token',
    token_id: null,
    refused_by: 'no_credential',
    failures_remaining: 1,
  },
  version: null,
  quota: null,
  idempotency: null,
  rewrite: null,
  cors: null,
  upstreams: null,
  retry_policy: null,
  grpc: null,
  trailers: null,
  locations: null,
  request_headers: null,
  mirror: null,
  timeouts: null,
};
