import { VisuallyHidden } from '@mantine/core';
import type { RequestRecord } from '../../api/client.ts';
import classes from './status-code.module.css';

interface StatusCodeProps {
  readonly record: Pick<RequestRecord, 'status' | 'outcome'>;
  /** Whether a good status has a tint too. */
  readonly filled?: boolean;
}

/** The status of a request in the colour of its class. A response that broke off has the colour of a failure. */
export function StatusCode({ record: { status, outcome }, filled = false }: StatusCodeProps) {
  const failed = outcome === 'upstream_error' && status !== null;
  const shown = status === null ? 'none' : failed ? '5xx' : `${Math.floor(status / 100)}xx`;
  return (
    <span className={classes.code} data-class={shown} data-filled={filled || undefined}>
      {status ?? (
        <>
          <span aria-hidden>–</span>
          <VisuallyHidden>no status</VisuallyHidden>
        </>
      )}
    </span>
  );
}
