import { isId, type IdPrefix } from '@gateway/shared/ids';
import type { ZodType } from 'zod';
import { requireEnvironment } from '../../access/access.ts';
import type { CallerToken } from '../../access/caller.ts';
import { invalidField } from '../../http/input.ts';
import { onlyEnvironment } from './service-input.ts';

/** The environment of a PUT by name. @throws GatewayError authentication_failed, invalid_request */
export function targetEnvironment(query: unknown, token: CallerToken): string {
  const { environment = onlyEnvironment(token) } = query as { environment?: string };
  requireEnvironment(token, environment);
  return environment;
}

/**
 * The name in the path of a PUT.
 *
 * @param prefix that of ids of this kind, which are no names here
 * @throws GatewayError invalid_request
 */
export function targetName(
  { id = '' }: Readonly<Record<string, string>>,
  field: ZodType,
  prefix: IdPrefix,
): string {
  const parsed = field.safeParse(id);
  if (!parsed.success) throw invalidField('name', parsed.error.issues[0]?.message ?? '');
  if (isId(prefix, id)) {
    throw invalidField('name', 'must be a name, not an id; PATCH changes by id');
  }
  return id;
}

/** A body may repeat the name and the environment, but not contradict them. @throws GatewayError invalid_request */
export function requireNameOf(
  at: { readonly name: string; readonly environment: string },
  body: { readonly name?: string | undefined; readonly environment?: string | undefined },
): void {
  if (body.name !== undefined && body.name !== at.name) {
    throw invalidField('name', 'must be the name in the path; PATCH renames');
  }
  if (body.environment !== undefined && body.environment !== at.environment) {
    throw invalidField('environment', 'must be the environment in the query');
  }
}
