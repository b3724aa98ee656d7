/**
 * The outcomes of requests that count as errors. A status of 500 or more is one too, unless the outcome is `success`: so a
 * route answers whose `respond` has such a status.
 */
export const ERROR_OUTCOMES = ['upstream_error', 'upstream_unavailable', 'timeout'] as const;
