import type { components } from '@gateway/client';
import { bytesText, countText, countedText, cpuText, msText } from '@gateway/client/measures';
import { Command } from 'commander';
import { watchable, withWatchOption } from '../../input/watch-option.ts';
import { checkEnvironment } from '../../lookup/check-environment.ts';
import { collectItems } from '../../lookup/collect-items.ts';
import { styleOfWord } from '../../output/meanings.ts';
import type { Column } from '../../output/table.ts';
import { unusableLines } from '../../rollout/data-plane-lines.ts';
import type { Cli } from '../../session.ts';
import type { Style } from '../../output/colours.ts';

type DataPlane = components['schemas']['DataPlane'];

/** `gwctl data-planes`. */
export const dataPlanesCommand = (cli: Cli): Command =>
  withWatchOption(new Command('data-planes'))
    .description(
      'Lists the data planes, what they use of a core and of memory, and which version of each environment they run; ' +
        'with -o wide also the memory limit of their container and the delay of their event loop.',
    )
    .action(
      watchable(cli, async (_options: object, command: Command) => {
        const session = cli.open(command);
        const { client, environment } = session;
        const query = { limit: 200, ...(environment === undefined ? {} : { environment }) };
        const dataPlanes = await collectItems(
          client.list('/v1/data-planes', { params: { query } }),
        );
        if (dataPlanes.every(({ environments }) => environments.length === 0)) {
          await checkEnvironment(session);
        }
        await session.printList(dataPlanes, columns, 'data planes');
      }),
    );

const columns: readonly Column<DataPlane>[] = [
  { title: 'NAME', of: ({ id }) => id },
  { title: 'REGION', of: ({ region }) => region },
  { title: 'STATE', of: stateOf, style: (one) => styleOfWord(stateOf(one)) },
  { title: 'IN FLIGHT', leftOut: 1, of: ({ in_flight }) => in_flight },
  { title: 'CPU', leftOut: 3, of: ({ process_cpu_ratio: cpu }) => optional(cpu, cpuText) },
  {
    title: 'MEMORY',
    leftOut: 2,
    of: ({ process_resident_memory_bytes: bytes }) => optional(bytes, bytesText),
  },
  { title: 'VERSIONS', shrinks: 12, of: versionsOf, style: versionsStyle },
  { title: 'LAST SEEN', time: true, leftOut: 4, of: ({ last_seen_at }) => last_seen_at },
  {
    title: 'MEMORY LIMIT',
    wide: true,
    of: ({ memory_limit_bytes: bytes }) => optional(bytes, bytesText),
  },
  {
    title: 'LOOP DELAY',
    wide: true,
    of: ({ event_loop_delay_ms: ms }) => optional(ms, msText),
  },
  { title: 'GATEWAY', wide: true, of: ({ gateway_version }) => gateway_version },
  { title: 'STARTED', wide: true, of: ({ started_at }) => started_at },
  { title: 'LAST ERROR', wide: true, of: ({ last_error }) => last_error },
  {
    title: 'UNUSABLE',
    wide: true,
    of: ({ environments }) => environments.flatMap(unusableLines).join('; ') || null,
  },
];

function optional(value: number | null, text: (known: number) => string): string | null {
  return value === null ? null : text(value);
}

function stateOf({ stale }: DataPlane): string {
  return stale ? 'stale' : 'live';
}

function versionsStyle({ environments }: DataPlane): Style | undefined {
  const isWhole = environments.every(
    (one) => one.versions_behind === 0 && one.unusable_count === 0,
  );
  return isWhole ? undefined : 'yellow';
}

/** Such as `production 7 (2 parts unusable), staging 3 (1 behind)`. */
function versionsOf({ environments }: DataPlane): string {
  return environments
    .map(({ environment, version, versions_behind: behind, unusable_count: unusable }) => {
      const remarks = [
        ...(behind > 0 ? [`${countText(behind)} behind`] : []),
        ...(unusable > 0 ? [`${countedText(unusable, 'part')} unusable`] : []),
      ];
      const of = `${environment} ${version ?? 'none'}`;
      return remarks.length > 0 ? `${of} (${remarks.join(', ')})` : of;
    })
    .join(', ');
}
