import { Command } from 'commander';
import { tokenId } from '../../lookup/find-token.ts';
import { UsageError } from '../../program/exit-codes.ts';
import type { Cli } from '../../session.ts';
import { expiryField, expiryOption } from './options.ts';

interface Options {
  readonly name?: string;
  readonly expiresAt?: string;
}

/** `gwctl tokens update` */
export const updateToken = (cli: Cli): Command =>
  new Command('update')
    .summary('Change the name or the end of a token.')
    .description('Changes the name of a token, or when it ends.')
    .argument('<token>', 'the name or id of the token')
    .option('--name <name>', 'a new name')
    .addOption(expiryOption(cli.terminal.nowMs))
    .action(async (nameOrId: string, { name, expiresAt }: Options, command: Command) => {
      if (name === undefined && expiresAt === undefined) {
        throw new UsageError('there is nothing to change; give --name or --expires-at');
      }
      const session = cli.open(command);
      const path = { id: await tokenId(session, nameOrId) };
      const body = {
        ...(name === undefined ? {} : { name }),
        ...expiryField(expiresAt),
      };
      const updated = await session.client.patch('/v1/tokens/{id}', { params: { path }, body });
      session.printResource(updated.body.data);
    });
