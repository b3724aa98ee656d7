import { InvalidArgumentError, type Command } from 'commander';
import { commaList, wholeNumber } from '../../input/numbers.ts';
import type { Fields } from '../../input/read-body.ts';
import { serviceId } from '../../lookup/find-service.ts';
import type { Session } from '../../session.ts';

export interface RouteOptions {
  readonly service?: string;
  readonly timeoutMs?: number;
  readonly retryCount?: number;
  readonly methods?: readonly string[];
  readonly accessLog?: Fields;
}

/** Adds the options of the fields that most routes set. */
export const withRouteOptions = (command: Command): Command =>
  command
    .option('--service <service>', 'the name or id of the service that answers')
    .option('--timeout-ms <ms>', 'the deadline of a request, with its retries', wholeNumber)
    .option('--retry-count <count>', 'how often a request may be retried', wholeNumber)
    .option(
      '--methods <methods>',
      'the accepted methods, such as GET,PROPFIND (default: the usual ones)',
      commaList,
    )
    .option('--access-log <share>', ACCESS_LOG_HELP, accessLog);

const ACCESS_LOG_HELP =
  'which requests are logged: all (on), none (off) or a share such as 0.1; on for a new route';

function accessLog(text: string): Fields {
  if (text === 'off') return { enabled: false };
  if (text === 'on') return { enabled: true, sample_ratio: 1 };
  const share = text.trim() === '' ? Number.NaN : Number(text);
  if (share >= 0 && share <= 1) return { enabled: true, sample_ratio: share };
  throw new InvalidArgumentError('It must be on, off, or a number from 0 to 1.');
}

/** The fields of these options; undefined if an option was not given. */
export async function routeFields(
  { service, timeoutMs, retryCount, methods, accessLog: access_log }: RouteOptions,
  session: Session,
): Promise<Fields> {
  const id = service === undefined ? undefined : await serviceId(session, service);
  return { service_id: id, timeout_ms: timeoutMs, retry_count: retryCount, methods, access_log };
}
