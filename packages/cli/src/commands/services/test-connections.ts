import type { components } from '@gateway/client';
import { Command, Option } from 'commander';
import { SERVICE_FORM } from '@gateway/client/form-fields';
import { countedText } from '@gateway/client/measures';
import { collect } from '../../input/body-options.ts';
import { namingOptions } from '../../input/refused-options.ts';
import { serviceId } from '../../lookup/find-service.ts';
import { styleOfWord } from '../../output/meanings.ts';
import type { Column } from '../../output/table.ts';
import { FailedError, UsageError } from '../../program/exit-codes.ts';
import type { Cli } from '../../session.ts';

type Test = components['schemas']['ConnectionTest'];

/** Data planes answer within 5 s. Without one there is nothing to wait for. */
const TIMEOUT_MS = 10_000;

interface Options {
  readonly upstream?: readonly string[];
  readonly protocol?: string;
  readonly healthPath?: string;
  readonly dataPlane?: string;
}

/** What one data plane saw of an upstream, or why it saw nothing. */
interface Row {
  readonly url: string;
  readonly seen_from: string;
  readonly outcome: string;
  readonly message: string;
}

/** `gwctl services test` */
export const testService = (cli: Cli): Command =>
  new Command('test')
    .summary('Test whether data planes reach the upstreams of a service.')
    .description(
      'Asks live data planes of each region to connect to the upstreams and to make one health check of each, without a ' +
        'credential. Nothing is stored. Exits with 1 unless every upstream is healthy on every data plane.',
    )
    .argument('[service]', 'the name or id of the service')
    .option('--upstream <url>', 'connect to this URL, saved or not; may be repeated', collect)
    .addOption(
      new Option(
        '--protocol <choice>',
        'the version of HTTP (default: as stored, or http1)',
      ).choices(choicesOf('protocol')),
    )
    .option('--health-path <path>', 'the path that is requested (default: as stored, or /healthz)')
    .option('--data-plane <name>', 'the data plane to ask (default: up to 16)')
    .addHelpText('after', EXAMPLES)
    .action(async (nameOrId: string | undefined, options: Options, command: Command) => {
      const session = cli.open(command, { timeoutMs: TIMEOUT_MS });
      const { upstream: urls, protocol, healthPath, dataPlane } = options;
      if (nameOrId === undefined && urls === undefined) {
        throw new UsageError('a service or --upstream is required');
      }
      // No name of a service has this.
      if (nameOrId?.includes('://') === true) {
        throw new UsageError(`${nameOrId} is a URL, not a service; give it with --upstream`);
      }
      const { client, environment } = session;
      const id = nameOrId === undefined ? undefined : await serviceId(session, nameOrId);
      const given = {
        ...(id === undefined ? { environment } : { service_id: id }),
        ...(urls && { upstreams: urls.map((url) => ({ url })) }),
        protocol,
        health_path: healthPath,
        data_plane: dataPlane,
      };
      const sent = Object.entries(given).filter(([, value]) => value !== undefined);
      const { body } = await namingOptions({ own: given, fields: SERVICE_FORM }, () =>
        client.post('/v1/connection-tests', {
          body: Object.fromEntries(sent) as components['schemas']['ConnectionTestQuestion'],
        }),
      );
      const { data } = body;
      if (session.printsData) await session.printResource(data);
      else await session.printList(rowsOf(data), columns, 'upstreams');
      const unasked = data.unasked_data_planes;
      if (unasked > 0) {
        const were = unasked === 1 ? 'was' : 'were';
        const planes = countedText(unasked, 'more data plane');
        session.note(`${planes} ${were} not asked; see --data-plane.`);
      }
      const failures = rowsOf(data).filter(({ outcome }) => outcome !== 'healthy').length;
      if (failures > 0)
        throw new FailedError(`${failures} of ${countedText(rowsOf(data).length, 'test')} failed`);
    });

function choicesOf(field: string): string[] {
  return (SERVICE_FORM[field]?.choices ?? []).map(([value]) => value);
}

const columns: readonly Column<Row>[] = [
  { title: 'UPSTREAM', shrinks: 12, of: ({ url }) => url },
  { title: 'SEEN FROM', of: ({ seen_from }) => seen_from },
  { title: 'RESULT', of: ({ outcome }) => outcome, style: ({ outcome }) => styleOfWord(outcome) },
  { title: 'DETAIL', shrinks: 12, of: ({ message }) => message },
];

/** By upstream, then by data plane, as the console shows them; data planes that did not test first. */
function rowsOf({ data_planes }: Test): Row[] {
  const placed = data_planes.flatMap(({ id, region, message, upstreams }) => {
    const seen_from = `${id} (${region})`;
    if (message !== null) {
      return [{ at: -1, row: { url: '', seen_from, outcome: 'not tested', message } }];
    }
    return upstreams.map((one, at) => ({ at, row: { ...one, seen_from } }));
  });
  return placed.toSorted((a, b) => a.at - b.at).map(({ row }) => row);
}

const EXAMPLES = `
Examples:
  $ gwctl services test payments
  $ gwctl services test --upstream https://payments.internal:8443 --protocol http2`;
