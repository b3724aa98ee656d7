import type { components } from '@gateway/client';
import { SERVICE_FORM } from '@gateway/client/form-fields';
import { Command } from 'commander';
import { bodyOf, withBodyOptions, type BodyOptions } from '../../input/body-options.ts';
import { namingOptions } from '../../input/refused-options.ts';
import { UsageError } from '../../program/exit-codes.ts';
import type { Cli } from '../../session.ts';
import { serviceFields, withServiceOptions } from './options.ts';

/** `gwctl services create` */
export const createService = (cli: Cli): Command =>
  withBodyOptions(withServiceOptions(new Command('create')))
    .summary('Create a service.')
    .description(
      'Creates a service. A credential for it comes from a file or stdin, never from an option.',
    )
    .argument('<name>', 'the name of the service')
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, options: BodyOptions, command: Command) => {
      const session = cli.open(command);
      const { client, terminal, environment } = session;
      const own = { name, environment, ...serviceFields(options) };
      const body = await bodyOf(options, own, { terminal, fields: SERVICE_FORM });
      // The API checks the fields.
      if ((body['url'] ?? body['upstreams'] ?? null) === null) {
        throw new UsageError('--url is required, or upstreams with --set or -f FILE');
      }
      const created = await namingOptions(
        { own, fields: SERVICE_FORM, names: ['name', 'environment'] },
        () =>
          client.post('/v1/services', {
            body: body as unknown as components['schemas']['ServiceCreate'],
          }),
      );
      await session.printResource(created.body.data);
    });

const EXAMPLES = `
Examples:
  $ gwctl services create payments --url https://payments.internal:8443
  $ echo '{credential: {type: bearer, token: …}}' | gwctl services create payments --url … -f -`;
