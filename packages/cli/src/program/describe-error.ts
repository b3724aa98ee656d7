import { ApiError, ConnectionError, type ErrorDetail } from '@gateway/client';
import { retryAfterMs } from '@gateway/client/retry-after';
import { CommanderError } from 'commander';
import { printable } from '../output/printable.ts';
import {
  DifferenceError,
  ErrorWithRemark,
  EXIT,
  FailedError,
  InterruptedError,
  UsageError,
  type ExitCode,
} from './exit-codes.ts';
import { RefusedInputError } from './refused-input.ts';

/** What is written to stderr for an error, and the exit code. */
export interface ErrorReport {
  readonly text: string;
  readonly exitCode: ExitCode;
  /** When the same call may succeed, because the gateway refuses it only for now; undefined: it is no such refusal. */
  readonly retryAfterMs?: number;
}

/** The form of the secrets of tokens. They never reach stderr, even if a caller passes one as a name. */
const SECRETS = /gwt_[A-Za-z0-9_-]+/g;

/** The statuses of an API that is not there: of a data plane or a proxy in front of it, or of one that starts. */
const AWAY = new Set([502, 503, 504]);

/** Replaces the secrets of tokens. */
export const withoutSecrets = (text: string): string => text.replaceAll(SECRETS, 'gwt_***');

/** Describes an error that ended a command. */
export function describeError(error: unknown): ErrorReport {
  if (error instanceof ErrorWithRemark) {
    const report = describeError(error.cause);
    return { ...report, text: `${report.text}  ${error.message}\n` };
  }
  if (error instanceof ApiError) {
    return describeApiError(error, withoutDetail(error), error.details.map(detailText));
  }
  if (error instanceof RefusedInputError) {
    return describeApiError(error.refusal, error.message, error.faults);
  }
  if (error instanceof ConnectionError) return report(error.message, EXIT.unreachable);
  if (error instanceof InterruptedError) {
    const text = error.message === '' ? '\n' : `\ngwctl: interrupted: ${error.message}\n`;
    return { text, exitCode: EXIT.interrupted };
  }
  if (error instanceof DifferenceError) return { text: '', exitCode: EXIT.difference };
  if (error instanceof UsageError) return report(error.message, EXIT.usage);
  if (error instanceof FailedError) return report(error.message, EXIT.failed);
  // Commander has written its message already.
  if (error instanceof CommanderError) {
    return { text: '', exitCode: error.exitCode === 0 ? EXIT.done : EXIT.usage };
  }
  const message = error instanceof Error ? error.message : String(error);
  // The types of the client hold for its version of the API only.
  if (error instanceof TypeError) {
    return report(`the response is not one of this version of the API (${message})`, EXIT.failed);
  }
  return report(`unexpected error: ${message}`, EXIT.failed);
}

const detailText = ({ path, message }: ErrorDetail): string =>
  path === '' ? message : `${path}: ${message}`;

/** The API puts the first detail into the message too. Here each has a line of its own. */
export function withoutDetail({ message, details: [first] }: ApiError): string {
  if (first === undefined) return message;
  const end = `: ${first.path === '' ? '' : `${first.path}: `}${first.message}.`;
  return message.endsWith(end) ? `${message.slice(0, -end.length)}.` : message;
}

function describeApiError(
  error: ApiError,
  message: string,
  details: readonly string[],
): ErrorReport {
  const lines = [`${message} (${error.status} ${error.code})`, ...details.map((one) => `  ${one}`)];
  const scopes = /error="insufficient_scope".*scope="([^"]*)"/.exec(
    error.headers.get('www-authenticate') ?? '',
  );
  const missing = scopes?.[1]?.split(' ') ?? [];
  // The message names the first one.
  if (missing.length > 1) lines.push(`  the call needs the scopes ${missing.join(' and ')}`);
  if (error.code === 'not_found') {
    lines.push(
      '  this gateway does not have the call; its version may be older than that of gwctl',
    );
  }
  if (error.requestId !== undefined) lines.push(`  request id: ${error.requestId}`);
  const described = report(lines.join('\n'), exitCodeOf(error.status));
  const waitMs = passingWaitMs(error);
  return waitMs === undefined ? described : { ...described, retryAfterMs: waitMs };
}

/** For a 429 that does not say it. */
const USUAL_WAIT_MS = 10_000;
/** A proxy before the gateway may say a day. */
const MAX_WAIT_MS = 10 * 60_000;

/**
 * How long a command that asks again and again waits after a refusal that is one for now: 429, or 503 that says how long.
 * At most ten minutes. undefined: it is no such refusal.
 */
export function passingWaitMs({ status, headers }: ApiError): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const askedMs = retryAfterMs(headers) ?? (status === 429 ? USUAL_WAIT_MS : undefined);
  return askedMs && Math.min(askedMs, MAX_WAIT_MS);
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.notAllowed;
  return AWAY.has(status) ? EXIT.unreachable : EXIT.failed;
}

function report(message: string, exitCode: ExitCode): ErrorReport {
  const lines = message.split('\n').map(printable);
  return { text: withoutSecrets(`gwctl: ${lines.join('\n')}\n`), exitCode };
}
