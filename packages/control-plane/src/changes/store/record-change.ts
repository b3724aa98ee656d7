import { timeOfId } from '@gateway/shared/ids';
import { sql } from 'kysely';
import type { ChangeOrigin } from './change-origin.ts';
import type { AuditAction } from '../../audit/audit-event.ts';
import type { RowFields } from '../../fields/response-fields.ts';
import type { Database } from '../../store/database.ts';
import { LockBusyError, takeLock, tryLock, type ChangeLock } from './change-lock.ts';
import { callerConfirmation, type ConfirmCaller } from './confirm-caller.ts';
import { repeatChange } from './repeat-change.ts';
import type { ChangeKind } from '../../store/tables.ts';

/** The origin of a change with the id and the time of its audit event. */
export interface ChangeEvent {
  readonly id: string;
  readonly at: Date;
  readonly origin: ChangeOrigin;
}

/** A change as it is written to the outbox and to the audit trail. */
export interface RecordedChange {
  readonly action: AuditAction | 'service.reencrypted';
  readonly resourceId: string;
  /** Where the change is published; a token must cover them to see its event. `*`: all. */
  readonly environments: readonly string[];
  /** A token must cover these routes to see the event. */
  readonly routes?: readonly string[];
  /** Undefined: it is not published. */
  readonly published?: Transition & {
    readonly kind: ChangeKind;
    /** The version that a rollback restores with it. */
    readonly restoredVersion?: number;
  };
  /** Undefined: there is no audit event. */
  readonly audited?: Transition & { readonly event: ChangeEvent };
}

/** null: the resource does not exist before, or after. */
interface Transition {
  readonly before: object | null;
  readonly after: object | null;
}

/** The result of a write, and the changes that it made. */
export interface Written<T> {
  readonly result: T;
  readonly changes: readonly RecordedChange[];
}

/** The largest number of changes in one statement. */
const CHUNK_CHANGES = 200;

/**
 * Makes changes in one transaction: takes the lock, runs `write`, then adds the returned changes to the
 * outbox and to the audit trail. So no change is published without an audit event.
 *
 * The caller is confirmed in the transaction, by `write` or at its end. So a change is committed before its token is
 * revoked, or not at all.
 *
 * @param isConflict other errors after which the change is tried again; see `repeatChange`
 * @throws GatewayError authentication_failed if the token of the call has ended, gateway_not_ready if another change runs
 *   too long, and what `write` throws
 */
export function changeConfiguration<T>(
  db: Database,
  {
    caller,
    runChange,
    clock,
    signal,
  }: Pick<ChangeOrigin, 'caller' | 'runChange' | 'clock' | 'signal'>,
  lock: ChangeLock | undefined,
  write: (transaction: Database, confirmCaller: ConfirmCaller) => Promise<Written<T>>,
  isConflict?: (error: unknown) => boolean,
): Promise<T> {
  const run = runChange ?? ((change) => db.transaction().execute(change));
  const take = clock === undefined ? takeLock : tryLock;
  const attempt = () =>
    run(async (transaction) => {
      if (lock !== undefined) await take(transaction, lock);
      if (signal?.aborted === true) throw new LockBusyError();
      const confirmCaller = callerConfirmation(transaction, caller);
      const { result, changes } = await write(transaction, confirmCaller);
      for (let from = 0; from < changes.length; from += CHUNK_CHANGES) {
        const chunk = changes.slice(from, from + CHUNK_CHANGES);
        await addToOutbox(transaction, chunk);
        await addAuditEvents(transaction, chunk);
      }
      await confirmCaller();
      return result;
    });
  return clock === undefined ? attempt() : repeatChange(clock, attempt, isConflict, signal);
}

/**
 * The id and the time of the audit event of a change. Call it after the row is locked, so that the events of a resource have the
 * order of its changes. An event is always later than the last change of the row, even if the clocks of
 * replicas differ.
 */
export function stampChange(
  origin: ChangeOrigin,
  current?: Pick<RowFields, 'updated_at'>,
): ChangeEvent {
  const id = origin.newEventId();
  const atMs = timeOfId(id);
  const lastMs = current === undefined ? -Infinity : new Date(current.updated_at).getTime();
  if (atMs > lastMs) return { id, at: new Date(atMs), origin };
  return { id: origin.newEventId(lastMs + 1), at: new Date(lastMs + 1), origin };
}

async function addToOutbox(
  transaction: Database,
  changes: readonly RecordedChange[],
): Promise<void> {
  const rows = changes.flatMap(({ action, resourceId, environments, published, audited }) => {
    if (published === undefined) return [];
    const { kind, before, after, restoredVersion } = published;
    return sql`(${environments}::text[], ${action}, ${kind}, ${resourceId},
      ${audited?.event.origin.caller?.tokenId ?? null}::text, ${textOf(before)}::jsonb, ${textOf(after)}::jsonb,
      ${restoredVersion ?? null}::bigint)`;
  });
  if (rows.length === 0) return;
  await sql`
    INSERT INTO config_outbox
      (environment, action, kind, entity_id, token_id, before, after, restored_version)
    SELECT environments.name, action, kind, entity_id, token_id, before, after, restored_version
    FROM (VALUES ${sql.join(rows)})
      AS changes (names, action, kind, entity_id, token_id, before, after, restored_version)
    JOIN environments
      ON environments.name = ANY(names) OR ('*' = ANY(names) AND environments.deleted_at IS NULL)
  `.execute(transaction);
}

async function addAuditEvents(
  transaction: Database,
  changes: readonly RecordedChange[],
): Promise<void> {
  const rows = changes.flatMap((change) => {
    const { action, resourceId, environments, routes = [], audited } = change;
    if (audited === undefined) return [];
    const { event } = audited;
    const { caller, clientAddress, requestId } = event.origin;
    return sql`(${event.at}, ${event.id}, ${action}, ${action.split('.')[0]}, ${resourceId},
      ${distinct(environments)}::text[], ${distinct(routes)}::text[],
      ${caller?.tokenId ?? null}, ${clientAddress}, ${requestId},
      ${textOf(audited.before)}::json, ${textOf(audited.after)}::json)`;
  });
  if (rows.length === 0) return;
  await sql`
    INSERT INTO audit_events (occurred_at, id, action, resource_type, resource_id,
      environments, routes, token_id, client_ip, request_id, before, after)
    VALUES ${sql.join(rows)}
  `.execute(transaction);
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

function textOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
