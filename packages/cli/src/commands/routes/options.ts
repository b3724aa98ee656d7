import { ROUTE_FORM } from '@gateway/client/form-fields';
import { InvalidArgumentError, type Command } from 'commander';
import { optionFields, withFieldOptions } from '../../input/field-options.ts';
import type { Fields } from '../../input/read-body.ts';
import { serviceId } from '../../lookup/find-service.ts';
import type { Session } from '../../session.ts';

export interface RouteOptions {
  readonly service?: string;
  readonly accessLog?: Fields;
}

/** Fields with an option of their own; the name is an argument of a new route. */
const OWN = ['name', 'service_id'];

/** Adds the options of the fields of a route. */
export const withRouteOptions = (command: Command): Command =>
  withFieldOptions(
    command.option('--service <service>', 'the name or id of the service that answers'),
    ROUTE_FORM,
    OWN,
  ).option('--access-log <share>', ACCESS_LOG_HELP, accessLog);

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
export async function routeFields(options: RouteOptions, session: Session): Promise<Fields> {
  const { service, accessLog: access_log } = options;
  const id = service === undefined ? undefined : await serviceId(session, service);
  return { ...optionFields(options, ROUTE_FORM, OWN), service_id: id, access_log };
}
