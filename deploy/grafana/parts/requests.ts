/** Of every request, by route. */
export const REQUESTS = 'gateway_requests_total';
/** Failed at an upstream, as the console counts errors of upstreams. */
export const FAILED = 'outcome=~"upstream_error|upstream_unavailable|timeout"';
/** Refused by the gateway. */
export const REFUSED = 'outcome="rejected"';
