import { storedView } from '../config-history.ts';
import { readConsistently } from './configuration-rows.ts';
import { requireUnnamed } from '../../access/store/tokens-of-routes.ts';
import type { Database } from '../../store/database.ts';
import type { RowFields } from '../../fields/response-fields.ts';
import { violatedConstraint } from '../../store/failures.ts';
import type { RowChange, WrittenChange } from '../row-change.ts';
import { requireDistinctMatches } from './matches-of-routes.ts';
import { violationError } from './change-errors.ts';
import type { ChangeOrigin } from '../../changes/store/change-origin.ts';
import {
  changeConfiguration,
  stampChange,
  type ChangeEvent,
  type RecordedChange,
} from '../../changes/store/record-change.ts';
import { writeRows } from './write-rows.ts';

/** A change of services and routes: what it reads, and what becomes of the rows. */
export interface RowsChange<Read> {
  /** Shared if `read` locks the rows that change, exclusive if it does not. */
  readonly lock: 'configuration' | 'configuration-exclusive';
  /** @param isDry nothing will be written, so nothing need be locked */
  readonly read: (transaction: Database, isDry: boolean) => Promise<Read>;
  /** Pure: it may run again, with what was read then. @throws GatewayError if the change is refused */
  readonly plan: (read: Read) => readonly RowChange[];
  /** A key that another writer may take meanwhile. Then the change is planned anew. */
  readonly contestedKey?: string;
  /** The field of the request that gives routes other names. Default: `name`. */
  readonly renamedBy?: 'name' | 'version';
  /** The version that the change restores. */
  readonly restoredVersion?: number;
  /** The audit event of the change as a whole, if there is one and anything changes. */
  readonly summary?: (read: Read, changes: readonly RowChange[]) => Summary;
}

export interface Summary extends Pick<RecordedChange, 'action' | 'resourceId' | 'environments'> {
  readonly before: object;
  readonly after: object;
}

/** What a change has read, and what it made or would make of it. */
export interface ChangeResult<Read, Change> {
  readonly read: Read;
  readonly changes: readonly Change[];
}

/**
 * Changes services and routes in one transaction with the outbox, the audit events and the idempotency key of the call.
 * All calls that change them come here.
 *
 * @throws GatewayError name_conflict; service_not_found, environment_not_found if what a row names is gone; service_in_use;
 *   match_conflict; in_use if tokens name a route that would get another name; gateway_not_ready; and what `read` and `plan` throw
 */
export async function changeRows<Read>(
  db: Database,
  origin: ChangeOrigin,
  change: RowsChange<Read>,
): Promise<ChangeResult<Read, WrittenChange>> {
  const { lock, contestedKey, restoredVersion } = change;
  const isContested = (error: unknown) =>
    contestedKey !== undefined && violatedConstraint(error) === contestedKey;
  try {
    return await changeConfiguration(
      db,
      origin,
      lock,
      async (transaction) => {
        const read = await change.read(transaction, false);
        const planned = change.plan(read);
        await requireFreeNames(transaction, planned, origin, change);
        await requireDistinctMatches(transaction, planned, origin.reach);
        const event = stampChange(origin, lastChanged(planned));
        const changes = await writeRows(transaction, planned, event.at, origin.reach);
        const recorded = changes.map((one) => recordOf(one, eventBeside(event), restoredVersion));
        const summary = planned.length === 0 ? undefined : change.summary?.(read, planned);
        return {
          result: { read, changes },
          changes: summary === undefined ? recorded : [...recorded, summaryOf(summary, event)],
        };
      },
      isContested,
    );
  } catch (error) {
    throw violationError(error) ?? error;
  }
}

/** Plans a change without making it. @throws as `changeRows` */
export function planRows<Read>(
  db: Database,
  origin: ChangeOrigin,
  change: RowsChange<Read>,
): Promise<ChangeResult<Read, RowChange>> {
  return readConsistently(db, async (transaction) => {
    const read = await change.read(transaction, true);
    const changes = change.plan(read);
    await requireFreeNames(transaction, changes, origin, change);
    await requireDistinctMatches(transaction, changes, origin.reach);
    return { read, changes };
  });
}

/** Tokens name routes, so a route that they name keeps its name. */
async function requireFreeNames(
  transaction: Database,
  changes: readonly RowChange[],
  { reach }: ChangeOrigin,
  { renamedBy = 'name' }: Pick<RowsChange<never>, 'renamedBy'>,
): Promise<void> {
  const renamed = changes.flatMap(({ kind, before, after }) =>
    kind === 'route' && before !== null && after !== null && before.name !== after.name
      ? [before]
      : [],
  );
  const names = renamed.map(({ name }) => name);
  await requireUnnamed(transaction, renamed[0]?.environment ?? '', names, renamedBy, reach);
}

/** The latest change of the rows; undefined: they are new. */
function lastChanged(changes: readonly RowChange[]): Pick<RowFields, 'updated_at'> | undefined {
  const times = changes.flatMap(({ before }) =>
    before === null ? [] : [new Date(before.updated_at).getTime()],
  );
  if (times.length === 0) return undefined;
  return { updated_at: new Date(times.reduce((a, b) => Math.max(a, b))) };
}

/** Another event at the same time. */
function eventBeside(event: ChangeEvent): ChangeEvent {
  return { ...event, id: event.origin.newEventId(event.at.getTime()) };
}

function summaryOf({ before, after, ...change }: Summary, event: ChangeEvent): RecordedChange {
  return { ...change, audited: { event, before, after } };
}

/** A change of a row, for the outbox and the audit trail. */
function recordOf(
  { kind, before, after }: WrittenChange,
  event: ChangeEvent,
  restoredVersion: number | undefined,
): RecordedChange {
  const action = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  const rows = [before, after].filter((row) => row !== null);
  return {
    action: `${kind}.${action}`,
    resourceId: rows[0]?.id ?? '',
    environments: rows.map(({ environment }) => environment),
    ...(kind === 'route' && { routes: rows.map(({ name }) => name) }),
    published: { kind, before, after, ...(restoredVersion !== undefined && { restoredVersion }) },
    audited: {
      event,
      before: before && storedView(kind, before),
      after: after && storedView(kind, after),
    },
  };
}
