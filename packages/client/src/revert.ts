type Fields = Readonly<Record<string, unknown>>;

/** A change of a resource: an audit event, or what differs from one version to the next. */
export interface RevertibleChange {
  readonly resource_type: string;
  readonly before: Fields | null;
  readonly after: Fields | null;
}

/** How a change is reverted: the body of a PATCH, or why it cannot be. */
export type Revert =
  | { readonly body: Record<string, unknown>; readonly refused?: undefined }
  | { readonly refused: string };

/** Fields that say which resource it is and when it changed, and one that repeats another: the URL of an upstream. */
const NOT_SETTINGS = new Set(['id', 'environment', 'revision', 'created_at', 'updated_at', 'url']);

/** Fields of which one replaces the other. */
const TARGET = ['service_id', 'versions', 'respond', 'redirect'];

/** Why a change cannot be reverted, as far as the change itself says; undefined: it may be. */
export function revertFault(change: RevertibleChange): string | undefined {
  const { resource_type: type, before, after } = change;
  if (type !== 'route' && type !== 'service') return `A change of a ${type} cannot be reverted.`;
  if (after === null) return `The ${type} was deleted; roll back to a version that has it.`;
  if (before === null) return `The ${type} was created; delete it instead.`;
  const hasSecret = !isSame(before['credential'], after['credential']) || changesKey(before, after);
  if (hasSecret) {
    return 'The change replaced a secret, which is not shown and cannot be sent again; a rollback restores it.';
  }
  return undefined;
}

/** A change of the certificate of a client has its key with it. */
function changesKey(before: Fields, after: Fields): boolean {
  const certificateOf = ({ tls }: Fields) =>
    (tls as { client_certificate?: unknown } | null | undefined)?.client_certificate;
  return !isSame(certificateOf(before), certificateOf(after));
}

/**
 * How a change of a service or a route is reverted. Send the body with the ETag of `current` as `If-Match`. Only the last
 * change of a resource can be reverted, so a credential goes only where it was sent before the change.
 * @param current the resource as it is now
 */
export function revertOf(change: RevertibleChange, current: Fields): Revert {
  const refused = revertFault(change);
  const { before, after } = change;
  if (refused !== undefined || before === null || after === null) return { refused: refused ?? '' };
  if (current['revision'] !== after['revision']) {
    return {
      refused: `The ${change.resource_type} was changed again since; revert that change first.`,
    };
  }
  const names = new Set(
    Object.keys(before).filter(
      (name) => !NOT_SETTINGS.has(name) && name in after && !isSame(before[name], after[name]),
    ),
  );
  if (TARGET.some((name) => names.has(name))) for (const name of TARGET) names.add(name);
  if (names.size === 0) return { refused: 'The change changed no setting.' };
  return { body: Object.fromEntries([...names].map((name) => [name, settingOf(before, name)])) };
}

/** A response has the path that a health check requests, also where it is not set. */
function settingOf(resource: Fields, name: string): unknown {
  const value = resource[name];
  if (name !== 'health_check' || typeof value !== 'object' || value === null) return value;
  const { path } = value as { path?: unknown };
  return path === resource['health_path'] ? { ...value, path: null } : value;
}

/** Both come from one answer of the API, so their fields have the same order. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}
