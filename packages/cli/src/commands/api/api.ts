import type { Answer } from '@gateway/client';
import { Command } from 'commander';
import { collect } from '../../input/body-options.ts';
import { collectItems } from '../../lookup/collect-items.ts';
import { dataText } from '../../output/data-text.ts';
import { columnsOf, isData } from '../../output/formats.ts';
import { UsageError } from '../../program/exit-codes.ts';
import type { Cli, Session } from '../../session.ts';
import { readCall, type ApiCall, type CallOptions } from './read-call.ts';

interface Options extends CallOptions {
  readonly paginate?: true;
  readonly include?: true;
}

/** `gwctl api` */
export const apiCommand = (cli: Cli): Command =>
  new Command('api')
    .usage('[options] [method] <path>')
    .description(
      'Makes a call of the management API with the URL and the token of the context, and prints the response as JSON. ' +
        'The method is GET, or POST with --input. It does not ask before it sends. /docs of the gateway ' +
        'lists the calls.',
    )
    .argument(
      '<method-or-path>',
      'such as PATCH, or a path such as /v1/routes; /v1/ may be left out',
    )
    .argument('[path]', 'the path, after a method')
    .option(
      '-f, --field <name=value>',
      'a field of the body, or of the query of a GET; the value is YAML; may be repeated',
      collect,
    )
    .option('--input <file>', 'read the body from a YAML or JSON file; - for stdin')
    .option('-H, --header <field>', "'Name: value'; may be repeated", collect)
    .option('--paginate', 'print the items of all pages of a list')
    .option('-i, --include', 'print the status and the headers of the response first')
    .addHelpText('after', EXAMPLES)
    .action(
      async (first: string, second: string | undefined, options: Options, command: Command) => {
        const session = cli.open(command);
        const call = await readCall(first, second, options, session.terminal);
        if (options.paginate) await printPages(session, call, options);
        else await printAnswer(session, call, options);
      },
    );

/** The types of the client are for calls that are known when gwctl is built. */
interface UntypedClient {
  list(path: string, init: object): AsyncIterable<unknown>;
  readonly get: UntypedMethod;
  readonly post: UntypedMethod;
  readonly put: UntypedMethod;
  readonly patch: UntypedMethod;
  readonly delete: UntypedMethod;
}
type UntypedMethod = (path: string, init: object) => Promise<Answer<unknown>>;

const untyped = ({ client }: Session) => client as unknown as UntypedClient;

async function printPages(session: Session, call: ApiCall, { include }: Options): Promise<void> {
  if (call.method !== 'get') throw new UsageError('--paginate is for GET');
  if (include) throw new UsageError('--paginate and --include exclude each other');
  const { path, query, headers } = call;
  const items = await collectItems(untyped(session).list(path, { params: { query }, headers }));
  await print(session, items);
}

async function printAnswer(session: Session, call: ApiCall, { include }: Options): Promise<void> {
  const { method, path, query, headers, body } = call;
  const answer = await untyped(session)[method](path, { params: { query }, headers, body });
  if (include) {
    const lines = [...answer.headers].map(([name, value]) => `${name}: ${value}\n`);
    session.terminal.out(`HTTP ${answer.status}\n${lines.join('')}\n`);
  }
  if (answer.body !== undefined) await print(session, answer.body);
}

/** For people it is JSON as well: the response as it is. */
async function print({ terminal, output }: Session, body: unknown): Promise<void> {
  const format = isData(output) ? output : 'json';
  const isOfItems = format === 'name' || columnsOf(format) !== undefined;
  const data = isOfItems ? ((body as { data?: unknown }).data ?? body) : body;
  terminal.out(await dataText(data, format));
}

const EXAMPLES = `
Examples:
  $ gwctl api /v1/whoami
  $ gwctl api routes --paginate -f environment=production -o jsonpath='$[*].name'
  $ gwctl api POST environments -f name=staging
  $ gwctl api PATCH routes/rte_01kb5zv4x8n3m6q9r2t7w0y1z4 --input - < changes.yaml`;
