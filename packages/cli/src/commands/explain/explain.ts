import { Command } from 'commander';
import { routeId } from '../../lookup/find-route.ts';
import { namedSentences } from '../../lookup/named-references.ts';
import { tokenId } from '../../lookup/find-token.ts';
import { collect } from '../../input/body-options.ts';
import { linesText } from '../../output/print.ts';
import type { Cli } from '../../session.ts';
import { explanationLines } from './explanation-lines.ts';
import { defaultMethod, headersOf, targetOf } from './question.ts';

/** A data plane answers within 3 s. Without one there is nothing to wait for. */
const TIMEOUT_MS = 5000;

interface Options {
  readonly method?: string;
  readonly host?: string;
  readonly header?: readonly string[];
  readonly data?: string;
  readonly token?: string;
  readonly anonymous?: true;
  readonly clientIp?: string;
  readonly dataPlane?: string;
}

/** `gwctl explain` */
export const explainCommand = (cli: Cli): Command =>
  new Command('explain')
    .description(
      'Shows what a live data plane would do with a request to a route, stage by stage, and why. Nothing is sent and ' +
        'nothing is spent.',
    )
    .argument('<route>', 'the name or id of the route')
    .argument('[path]', 'the path after the name of the route, or the whole one with --host', '')
    .option('-X, --method <method>', 'the method (default: POST for a gRPC call, else GET)')
    .option('--host <host>', 'the host that the caller asks: is the route reached there?')
    .option('-H, --header <field>', "'Name: value', @FILE, or @- for stdin; repeatable", collect)
    .option('-d, --data <text>', 'the body, with which an idempotency key is compared')
    .option('--token <token>', 'the caller presents the token of this name or id')
    .option('--anonymous', 'the caller presents no credential')
    .option('--client-ip <address>', 'where the connection comes from')
    .option('--data-plane <name>', 'the data plane to ask (default: any)')
    .addHelpText('after', EXAMPLES)
    .action(async (route: string, target: string, options: Options, command: Command) => {
      const session = cli.open(command, { timeoutMs: TIMEOUT_MS });
      const { client, terminal, printsData } = session;
      const { host, data, token, anonymous, clientIp, dataPlane } = options;
      // What the command line says is checked before anything is asked.
      const headers = await headersOf(options.header ?? [], terminal);
      const path = { id: await routeId(session, route) };
      const { body } = await client.post('/v1/routes/{id}/explain', {
        params: { path },
        body: {
          method: options.method ?? defaultMethod(headers),
          ...(host === undefined ? {} : { host }),
          ...targetOf(target),
          headers,
          ...(data === undefined ? {} : { body: data }),
          ...(token === undefined ? {} : { token_id: await tokenId(session, token) }),
          ...(anonymous === undefined ? {} : { anonymous }),
          ...(clientIp === undefined ? {} : { client_ip: clientIp }),
          ...(dataPlane === undefined ? {} : { data_plane: dataPlane }),
        },
      });
      if (printsData) await session.printResource(body.data);
      else {
        const named = await namedSentences(client, body.data, session.output === 'wide');
        terminal.out(linesText(explanationLines(named, terminal)));
      }
      if (body.data.authentication.refused_by === 'no_credential' && anonymous === undefined) {
        session.note('No caller was given: --token NAME explains the request of a token.');
      }
    });

const EXAMPLES = `
Examples:
  $ gwctl explain charges -X POST --token checkout /17
  $ gwctl explain charges --host api.example.com /v2/charges/17
  $ gwctl explain orders --host api.example.com /shop.Orders/Place -H 'content-type: application/grpc'`;
