import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { z } from 'zod';

/** The kinds of resources whose rows another release may have stored. */
export type StoredKind = 'service' | 'route' | 'token';

interface Stored {
  readonly id: string;
  readonly name: string;
}

/**
 * What `read` makes of a stored row.
 *
 * @throws GatewayError resource_unreadable, which names the fields with values that only another release knows
 */
export function readStored<View>(kind: StoredKind, { id, name }: Stored, read: () => View): View {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    // The values are left out: one of a newer release may be a secret.
    const details = error.issues.map((issue) => ({
      path: issue.path.join('.'),
      message: 'has a value that this release does not know',
    }));
    const fields = [...new Set(details.map(({ path }) => path))].join(', ');
    throw new GatewayError(
      'resource_unreadable',
      `This release cannot read the ${kind} ${name} (${id}), which another release has stored: ${fields}. ` +
        `Upgrade the control plane, or delete the ${kind}.`,
      { details, cause: error },
    );
  }
}

/** What `read` returns, or `instead` for a row that this release cannot read. */
function readableOr<Else, View>(instead: Else, read: () => View): View | Else {
  try {
    return read();
  } catch (error) {
    if (isUnreadable(error)) return instead;
    throw error;
  }
}

/** The rows of a list as the API shows them, without those that this release cannot read. */
export function readableOnly<Row, View>(
  rows: readonly Row[],
  view: (row: Row) => View,
): readonly View[] {
  return rows.flatMap((row) => readableOr([], () => [view(row)]));
}

/** A row as audit events show it. Of one that this release cannot read, only id and name are shown. */
export function auditedOr({ id, name }: Stored, view: () => object): object {
  return readableOr({ id, name }, view);
}

function isUnreadable(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'resource_unreadable';
}
