/** A row of the matrix: a kind of resource, with the scopes that see and change it. */
export interface MatrixRow {
  readonly label: string;
  readonly note?: string;
  readonly call?: string;
  readonly read?: string;
  readonly write?: string;
}

/** Every scope but `*`, which has all of them and those of later releases. */
export const MATRIX: readonly MatrixRow[] = [
  { label: 'Routes', call: 'proxy', read: 'routes:read', write: 'routes:write' },
  { label: 'Services', note: 'with their health', read: 'services:read', write: 'services:write' },
  { label: 'Requests', note: 'and statistics', read: 'requests:read' },
  {
    label: 'Tokens',
    note: 'without secrets; write contains read',
    read: 'tokens:read',
    write: 'tokens:write',
  },
  {
    label: 'Configuration',
    note: 'versions, data planes, environments; write contains read, and the audit log',
    read: 'config:read',
    write: 'config:write',
  },
  { label: 'Audit log', read: 'audit:read' },
];
