import type { components } from '@gateway/client';
import { Command } from 'commander';
import { commaList } from '../../input/numbers.ts';
import { UsageError } from '../../program/exit-codes.ts';
import type { Cli } from '../../session.ts';
import { expiryField, expiryOption, SECRET_NOTE } from './options.ts';

interface Options {
  readonly scopes: readonly string[];
  readonly environments?: readonly string[];
  readonly routes?: readonly string[];
  readonly expiresAt?: string;
}

/** `gwctl tokens create` */
export const createToken = (cli: Cli): Command =>
  new Command('create')
    .summary('Create a token, and print its secret once.')
    .description(
      'Creates a token and prints it with its secret, which is shown only now, on stdout. A token cannot grant what ' +
        'the token of the context does not have.',
    )
    .argument('<name>', 'the name of the token')
    .requiredOption('--scopes <scopes>', 'what it may do, such as proxy,routes:read', commaList)
    .option('--environments <names>', 'where (default: the environment of the command)', commaList)
    .option('--routes <names>', 'the routes (default: all)', commaList)
    .addOption(expiryOption(cli.terminal.nowMs))
    .addHelpText(
      'after',
      '\nExample:\n  $ gwctl tokens create checkout --scopes proxy -o json | jq -r .secret > checkout.token',
    )
    .action(async (name: string, options: Options, command: Command) => {
      const session = cli.open(command);
      const { environment } = session;
      const environments = options.environments ?? (environment === undefined ? [] : [environment]);
      if (environments.length === 0)
        throw new UsageError('name the environments with --environments');
      const { scopes, routes, expiresAt } = options;
      const body = {
        name,
        environments,
        scopes,
        ...(routes === undefined ? {} : { routes }),
        ...expiryField(expiresAt),
      };
      // The API checks the scopes.
      const created = await session.client.post('/v1/tokens', {
        body: body as components['schemas']['TokenCreate'],
      });
      await session.printResource(created.body.data);
      session.note(SECRET_NOTE);
    });
