import type { Command } from 'commander';
import { commaList, wholeNumber } from '../../input/numbers.ts';
import type { Fields } from '../../input/read-body.ts';
import { serviceId } from '../../lookup/find-service.ts';
import type { Session } from '../../session.ts';

export interface RouteOptions {
  readonly service?: string;
  readonly timeoutMs?: number;
  readonly retryCount?: number;
  readonly methods?: readonly string[];
}

/** Adds the options of the fields that most routes set. */
export const withRouteOptions = (command: Command): Command =>
  command
    .option('--service <service>', 'the name or id of the service that answers')
    .option('--timeout-ms <ms>', 'the deadline of a request, with its retries', wholeNumber)
    .option('--retry-count <count>', 'how often a request may be retried', wholeNumber)
    .option('--methods <methods>', 'the methods, such as GET,POST (default: all)', commaList);

/** The fields of these options; undefined if an option was not given. */
export async function routeFields(
  { service, timeoutMs, retryCount, methods }: RouteOptions,
  session: Session,
): Promise<Fields> {
  const id = service === undefined ? undefined : await serviceId(session, service);
  return { service_id: id, timeout_ms: timeoutMs, retry_count: retryCount, methods };
}
