import type { components } from '@gateway/client';
import { SERVICE_FORM } from '@gateway/client/form-fields';
import { Command } from 'commander';
import { changesOf, withBodyOptions, type BodyOptions } from '../../input/body-options.ts';
import { readService } from '../../lookup/find-service.ts';
import { namingOptions } from '../../input/refused-options.ts';
import type { Cli } from '../../session.ts';
import { serviceFields, withServiceOptions } from './options.ts';

interface Options extends BodyOptions {
  readonly name?: string;
}

/** `gwctl services update` */
export const updateService = (cli: Cli): Command =>
  withBodyOptions(withServiceOptions(new Command('update')))
    .summary('Change fields of a service.')
    .description(
      'Changes fields of a service, and leaves the others as they are. If somebody else changes the service at the ' +
        'same time, nothing is changed and the command fails. It reads the service first, so the token needs ' +
        '`services:read` too.',
    )
    .argument('<service>', 'the name or id of the service')
    .option('--name <name>', 'a new name')
    .action(async (nameOrId: string, options: Options, command: Command) => {
      const session = cli.open(command);
      const { body: read, etag } = await readService(session, nameOrId);
      const own = { name: options.name, ...serviceFields(options) };
      const parts = { terminal: session.terminal, fields: SERVICE_FORM };
      const body = await changesOf(options, own, parts, read.data);
      const params = { path: { id: read.data.id }, header: { 'If-Match': etag ?? '*' } };
      // The API checks the fields.
      const changes = body as components['schemas']['ServiceUpdate'];
      const updated = await namingOptions({ own, fields: SERVICE_FORM }, () =>
        session.client.patch('/v1/services/{id}', { params, body: changes }),
      );
      await session.printChanged(updated.body?.data);
    });
