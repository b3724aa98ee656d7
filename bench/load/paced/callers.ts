import { Pool } from 'undici';
import { REQUEST_BODY } from '../request-body.ts';
import type { Target } from '../wrk.ts';

/** The outcome of a request with a good response. */
export const GOOD = '200';

/** Called once, with `200`, another status and its error code, or what happened to the connection. */
export type Done = (outcome: string) => void;

export interface CallerOptions extends Target {
  /** When as many are busy, further requests wait for one. */
  readonly maxConnections: number;
  /** A caller leaves after this time. */
  readonly deadlineMs?: number;
}

/**
 * Returns a function that sends the same POST over connections that are kept open. A request takes a free connection or a
 * new one.
 */
export function createCallers(options: CallerOptions): (done: Done) => void {
  const { origin, pathname: path } = new URL(options.url);
  const { authorization, maxConnections: connections, deadlineMs } = options;
  const patience = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 600_000 };
  const pool = new Pool(origin, { connections, pipelining: 1, ...patience });
  const headers = {
    authorization,
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'bench',
  };
  return (done) => {
    let timer: NodeJS.Timeout | undefined;
    let outcome = '';
    const end = (how: string) => {
      clearTimeout(timer);
      done(how);
    };
    pool.dispatch(
      { path, method: 'POST', headers, body: REQUEST_BODY },
      {
        onRequestStart(controller) {
          const leave = () => controller.abort(new Error('left'));
          if (deadlineMs !== undefined) timer = setTimeout(leave, deadlineMs);
        },
        onResponseStart(_controller, status, { 'x-gateway-error': code = '' }) {
          outcome = `${status} ${String(code)}`.trim();
        },
        onResponseData: () => undefined,
        onResponseEnd: () => end(outcome),
        onResponseError: (_controller, error) => end(error.message),
      },
    );
  };
}
