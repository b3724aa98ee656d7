import { ApiError, ConnectionError } from '@gateway/client';

const RETRIES = 10;
const EVERY_MS = 1500;
const AWAY = [502, 503, 504];

/** Whether an error says that the control plane did not answer. */
export function isAway(error: unknown): boolean {
  return (
    error instanceof ConnectionError || (error instanceof ApiError && AWAY.includes(error.status))
  );
}

/** A read waits about 15 s for the control plane to return, before the page shows an error. */
export const RETRY_READS = {
  retry: (failures: number, error: Error) => isAway(error) && failures < RETRIES,
  retryDelay: EVERY_MS,
};
