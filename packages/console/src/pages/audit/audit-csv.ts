import type { AuditEvent } from '../../api/client.ts';
import { actionText, resourceName } from '../../ui/changes/event-text.ts';
import { resourceChanges } from '../../ui/diff/resource-changes.ts';

const COLUMNS = [
  'time',
  'person',
  'token_id',
  'action',
  'resource_type',
  'resource',
  'resource_id',
  'environments',
  'changes',
  'client_ip',
  'request_id',
] as const;

/** Changes as CSV (RFC 4180), a line for each, with the names of fields in the first one. */
export function auditCsv(events: readonly AuditEvent[], nameOf: (id: string) => string): string {
  const rows = events.map((event): readonly string[] => [
    event.occurred_at,
    event.token_id === null ? 'the gateway' : nameOf(event.token_id),
    event.token_id ?? '',
    actionText(event),
    event.resource_type,
    resourceName(event),
    event.resource_id,
    event.environments.join(' '),
    changesText(event),
    event.client_ip ?? '',
    event.request_id ?? '',
  ]);
  return [COLUMNS, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** Such as `timeout_ms: 7000 -> 6000; methods: -> GET`. Nothing if the resource was created or deleted. */
function changesText({ before, after }: AuditEvent): string {
  if (before === null || after === null) return '';
  return resourceChanges(before, after)
    .map(({ path, lines }) => {
      const of = (kind: string) =>
        lines
          .filter((line) => line.kind === kind)
          .map(({ text }) => text)
          .join(' | ');
      return `${path}: ${of('removed')} -> ${of('added')}`;
    })
    .join('; ');
}

/** Programs for tables run a cell that begins like this as a formula; names come from other people. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
