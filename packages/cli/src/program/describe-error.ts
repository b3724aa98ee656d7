import { ApiError, ConnectionError } from '@gateway/client';
import { CommanderError } from 'commander';
import { printable } from '../output/printable.ts';
import { EXIT, FailedError, InterruptedError, UsageError, type ExitCode } from './exit-codes.ts';

/** What is written to stderr for an error, and the exit code. */
export interface ErrorReport {
  readonly text: string;
  readonly exitCode: ExitCode;
}

/** The form of the secrets of tokens. They never reach stderr, even if a caller passes one as a name. */
const SECRETS = /gwt_[A-Za-z0-9_-]+/g;

/** The statuses of an API that is not there: of a data plane or a proxy in front of it, or of one that starts. */
const AWAY = new Set([502, 503, 504]);

/** Replaces the secrets of tokens. */
export const withoutSecrets = (text: string): string => text.replaceAll(SECRETS, 'gwt_***');

/** Describes an error that ended a command. */
export function describeError(error: unknown): ErrorReport {
  if (error instanceof ApiError) return describeApiError(error);
  if (error instanceof ConnectionError) return report(error.message, EXIT.unreachable);
  if (error instanceof InterruptedError) return { text: '\n', exitCode: EXIT.interrupted };
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

function describeApiError(error: ApiError): ErrorReport {
  const lines = [`${error.message} (${error.status} ${error.code})`];
  for (const { path, message } of error.details) lines.push(`  ${path}: ${message}`);
  const scopes = /error="insufficient_scope".*scope="([^"]*)"/.exec(
    error.headers.get('www-authenticate') ?? '',
  );
  if (scopes) lines.push(`  the token needs the scope ${scopes[1]}`);
  if (error.requestId !== undefined) lines.push(`  request id: ${error.requestId}`);
  return report(lines.join('\n'), exitCodeOf(error.status));
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.notAllowed;
  return AWAY.has(status) ? EXIT.unreachable : EXIT.failed;
}

function report(message: string, exitCode: ExitCode): ErrorReport {
  const lines = message.split('\n').map(printable);
  return { text: withoutSecrets(`gwctl: ${lines.join('\n')}\n`), exitCode };
}
