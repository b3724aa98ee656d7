import type { AuditAction } from '../../audit/audit-event.ts';
import { auditedToken, type Token } from '../token.ts';
import type { ChangeEvent, RecordedChange } from '../../changes/store/record-change.ts';

/** The change of a token. The outbox contains only its id, in each environment that it covers. */
export function tokenChange(
  event: ChangeEvent,
  action: AuditAction,
  before: Token | null,
  after: Token | null,
): RecordedChange {
  const { id, environments, routes } = (after ?? before) as Token;
  return {
    action,
    resourceId: id,
    environments,
    routes,
    published: { kind: 'token', before: null, after: null },
    audited: { event, before: before && auditedToken(before), after: after && auditedToken(after) },
  };
}
