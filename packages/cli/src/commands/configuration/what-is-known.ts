import { ApiError, ConnectionError } from '@gateway/client';
import { ErrorWithRemark, InterruptedError } from '../../program/exit-codes.ts';

const NOT_SENT = 'nothing was changed';
export const SENT =
  'it is not known whether the changes are applied; they are applied as a whole or not at all, and gwctl diff shows which';
export const APPLIED = 'the changes are applied; not every data plane may serve them yet';

type Known = typeof NOT_SENT | typeof SENT | typeof APPLIED;

/**
 * Runs an apply. If it is interrupted or its response is lost, the error says what is known of its changes.
 * @param signal aborts when the user presses ^C
 */
export async function withWhatIsKnown(
  signal: AbortSignal,
  run: (become: (known: Known) => void) => Promise<void>,
): Promise<void> {
  let known: Known = NOT_SENT;
  try {
    await run((next) => (known = next));
  } catch (error) {
    if (signal.aborted || error instanceof InterruptedError) throw new InterruptedError(known);
    const remark = remarkOn(error, known);
    throw remark === undefined ? error : new ErrorWithRemark(remark, error);
  }
}

function remarkOn(error: unknown, known: Known): string | undefined {
  if (error instanceof ConnectionError) {
    return known === SENT && wasNotSent(error) ? NOT_SENT : known;
  }
  if (!(error instanceof ApiError)) return undefined;
  if (error.code === 'precondition_failed') {
    return 'the list may be out of date, and nothing was changed; run it again';
  }
  if (known !== SENT) return known;
  // A proxy may give up while the gateway still works. 503 means that the gateway did not begin.
  return error.status >= 500 && error.status !== 503 ? SENT : undefined;
}

/** Errors before there is a connection. */
const NO_CONNECTION = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

interface Failure {
  readonly code?: string;
  readonly cause?: Failure;
}

function wasNotSent(error: Error): boolean {
  for (let at = error as Failure | undefined; at !== undefined; at = at.cause) {
    if (NO_CONNECTION.has(at.code ?? '')) return true;
  }
  return false;
}
