import { msText } from '@gateway/client/measures';
import type { components } from '@gateway/client';
import { styleOfWord } from '../../output/meanings.ts';
import { printable } from '../../output/printable.ts';
import { cellsLine, widthsOf, type Cell, type Look } from '../../output/table.ts';

type Schemas = components['schemas'];

/** What `gwctl status` reads. null: the token may not read it, or no environment is selected. */
export interface Status {
  readonly gateway: { readonly url: string; readonly answered_in_ms: number };
  readonly token: Schemas['Caller'];
  readonly environment: Schemas['Environment'] | null;
  readonly services: readonly Pick<Schemas['Service'], 'id' | 'name' | 'status'>[] | null;
  readonly data_planes: readonly Schemas['DataPlane'][] | null;
}

const UNREADABLE = 'the token may not read them';

/** The status as a person reads it. */
export function statusLines(status: Status, problems: readonly string[], look: Look): string[] {
  const { gateway, token, environment, services, data_planes: dataPlanes } = status;
  const rows: Cell[][] = [
    row('gateway', `${gateway.url}, answered in ${msText(gateway.answered_in_ms)}`),
    row('token', tokenText(token)),
    ...(environment === null ? [] : [row('environment', environmentText(environment))]),
    ...(environment === null
      ? []
      : [row('services', services ? servicesText(services) : UNREADABLE)]),
    ...planeRows(dataPlanes),
  ];
  const widths = widthsOf(rows);
  return [
    ...rows.map((cells) => cellsLine(cells, widths, look)),
    '',
    ...(problems.length === 0
      ? [look.colour('green', 'Nothing needs a look.')]
      : problems.map((problem) => look.colour('yellow', `! ${printable(problem)}`))),
  ];
}

const row = (label: string, text: string, style?: Cell['style']): Cell[] => [
  { text: label },
  { text: printable(text), style },
];

function tokenText({ name, scopes, expires_at: expiresAt }: Schemas['Caller']): string {
  const end = expiresAt === null ? 'does not end' : `ends at ${expiresAt}`;
  return `${name} (${scopes.join(', ')}), ${end}`;
}

const environmentText = ({ name, config_version: version }: Schemas['Environment']) =>
  `${name}, version ${version}`;

/** Such as `3 healthy, 1 degraded`. */
function servicesText(services: NonNullable<Status['services']>): string {
  if (services.length === 0) return 'none';
  const counts = new Map<string, number>();
  for (const { status } of services) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${status}`).join(', ');
}

function planeRows(dataPlanes: Status['data_planes']): Cell[][] {
  if (dataPlanes === null) return [row('data planes', UNREADABLE)];
  if (dataPlanes.length === 0) return [row('data planes', 'none')];
  return dataPlanes.map((plane, at) => {
    const state = plane.stale ? 'stale' : 'live';
    const versions = plane.environments.map(versionText).join(', ');
    const text = `${plane.id} in ${plane.region}, ${state}${versions === '' ? '' : `, ${versions}`}`;
    return row(at === 0 ? 'data planes' : '', text, plane.stale ? styleOfWord(state) : undefined);
  });
}

function versionText(one: Schemas['DataPlane']['environments'][number]): string {
  const behind = one.versions_behind > 0 ? ` (${one.versions_behind} behind)` : '';
  return `${one.environment} ${one.version ?? 'none'}${behind}`;
}
