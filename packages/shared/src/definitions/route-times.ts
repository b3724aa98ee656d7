import { integerField } from './fields.ts';

const DAY_MS = 86_400_000;
/** The time over which the minimum rate of a request body is measured. */
export const UPLOAD_RATE_WINDOW_MS = 30_000;

/**
 * How long a body may take and be silent. The clock of `timeout_ms` stands while the gateway waits for the body of the
 * caller, so these bound that wait.
 */
export const bodyTimeFields = {
  max_upload_ms: integerField(1, DAY_MS)
    .default(3_600_000)
    .meta({
      title: 'Longest upload',
      'x-unit': 'ms',
      description:
        'The time that the gateway waits in all for the body of a request. `timeout_ms` does not count them. Then the request is answered with 408.',
      examples: [3_600_000],
    }),
  min_upload_bytes_per_second: integerField(0, 1024 * 1024)
    .default(1024)
    .meta({
      title: 'Slowest upload',
      'x-unit': 'bytes per second',
      description: `The bytes a second that the caller must send of the body while the gateway waits for it, measured over ${UPLOAD_RATE_WINDOW_MS / 1000} s. A slower request is answered with 408. 0: no minimum.`,
      examples: [1024],
    }),
  body_idle_timeout_ms: integerField(1, DAY_MS)
    .nullable()
    .default(null)
    .meta({
      title: 'Longest silence of a body',
      'x-unit': 'ms',
      description:
        'The time in which nothing may arrive of a request body that the gateway waits for, or of a response body. null: `BODY_IDLE_TIMEOUT_MS` of the data plane.',
      examples: [600_000],
    }),
};
