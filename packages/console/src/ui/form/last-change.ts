import { gateway, type AuditEvent } from '../../api/client.ts';
import { readTokenNames } from '../../api/token-names.ts';

/** Who changed a resource, and when. */
export interface LastChange {
  /** The name of the token, or its id. */
  readonly by: string;
  /** RFC 3339. */
  readonly at: string;
}

/** The last change of a resource, of the audit; undefined: the session may not read it, or there is none. */
export async function readLastChange(
  type: AuditEvent['resource_type'],
  { id, environment }: { readonly id: string; readonly environment: string },
): Promise<LastChange | undefined> {
  const query = { environment, resource_type: type, resource_id: id, limit: 1 };
  // The change itself is shown in any case.
  const events = await gateway
    .get('/v1/audit-events', { params: { query } })
    .then(({ body }) => body.data)
    .catch(() => []);
  const [last] = events;
  if (last === undefined) return undefined;
  const { token_id: token, occurred_at: at } = last;
  if (token === null) return { by: 'The gateway', at };
  const names = await readTokenNames([token], { seesAudit: true }).catch(
    () => new Map<string, string>(),
  );
  return { by: names.get(token) ?? token, at };
}
