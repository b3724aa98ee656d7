import type { components } from '@gateway/client';
import { Command } from 'commander';
import { watchable, withWatchOption } from '../../input/watch-option.ts';
import { serviceId } from '../../lookup/find-service.ts';
import { styleOfWord } from '../../output/meanings.ts';
import type { Column } from '../../output/table.ts';
import type { Cli } from '../../session.ts';

type Health = components['schemas']['ServiceHealth'];

/** How an upstream is seen by one data plane, or by all of a region. */
interface Row {
  readonly url: string;
  readonly status: string;
  readonly seen_from: string;
  readonly detail: string;
}

/** `gwctl services health` */
export const serviceHealth = (cli: Cli): Command =>
  withWatchOption(new Command('health'))
    .summary('Show the health of each upstream of a service.')
    .description(
      'Shows the health of each upstream of a service as the data planes of each region see it; with -o wide as each ' +
        'data plane sees it.',
    )
    .argument('<service>', 'the name or id of the service')
    .action(
      watchable(cli, async (nameOrId: string, _options: object, command: Command) => {
        const session = cli.open(command);
        const id = await serviceId(session, nameOrId);
        const { body } = await session.client.get('/v1/services/{id}/health', {
          params: { path: { id } },
        });
        const { output } = session;
        if (session.printsData) await session.printResource(body.data);
        else
          await session.printList(
            output === 'wide'
              ? planeRows(body.data)
              : [...regionRows(body.data), ...causeRows(body.data)],
            columns,
            'upstreams',
          );
      }),
    );

const columns: readonly Column<Row>[] = [
  { title: 'UPSTREAM', shrinks: 12, of: ({ url }) => url },
  { title: 'SEEN FROM', of: ({ seen_from }) => seen_from },
  { title: 'STATUS', of: ({ status }) => status, style: ({ status }) => styleOfWord(status) },
  { title: 'DETAIL', shrinks: 12, of: ({ detail }) => detail },
];

function regionRows({ upstreams }: Health): Row[] {
  return upstreams.flatMap(({ url, status, regions }): Row[] => {
    if (regions.length === 0)
      return [{ url, status, seen_from: '', detail: 'no data plane is live' }];
    return regions.map(({ region, healthy, failing, unknown }) => {
      const detail = `healthy ${healthy}, failing ${failing}, unknown ${unknown}`;
      return { url, status, seen_from: region, detail };
    });
  });
}

function planeRows({ upstreams }: Health): Row[] {
  return upstreams.flatMap(({ url, data_planes }) =>
    data_planes.map((seen) => {
      const cause = causeText(seen);
      const detail = `at ${seen.last_seen_at}${cause === undefined ? '' : `; ${cause}`}`;
      return { url, status: seen.status, seen_from: planeText(seen), detail };
    }),
  );
}

/** Each data plane that reports why an upstream is as it is, and each on which the service is at a limit. */
function causeRows({ upstreams, overloaded_on }: Health): Row[] {
  const causes = upstreams.flatMap(({ url, data_planes }) =>
    data_planes.flatMap((seen): Row[] => {
      const detail = causeText(seen);
      return detail === undefined
        ? []
        : [{ url, status: seen.status, seen_from: planeText(seen), detail }];
    }),
  );
  const limits = overloaded_on.map((seen_from) => {
    return {
      url: '',
      status: 'degraded',
      seen_from,
      detail: 'refuses requests at a limit of the service',
    };
  });
  return [...causes, ...limits];
}

type Seen = Health['upstreams'][number]['data_planes'][number];

function planeText({ data_plane, region }: Seen): string {
  return `${data_plane} (${region})`;
}

function causeText({ since, reason }: Seen): string | undefined {
  if (reason === null) return undefined;
  return since === null ? reason : `since ${since}: ${reason}`;
}
