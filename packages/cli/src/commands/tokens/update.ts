import { Command } from 'commander';
import { confirmChange, withYesOption, type YesOption } from '../../confirmation/confirm-change.ts';
import { tokenId } from '../../lookup/find-token.ts';
import { UsageError } from '../../program/exit-codes.ts';
import type { Cli } from '../../session.ts';
import { expiryField, expiryOption } from './options.ts';
import { tokenUse } from './use-line.ts';

interface Options extends YesOption {
  readonly name?: string;
  readonly expiresAt?: string;
}

/** `gwctl tokens update` */
export const updateToken = (cli: Cli): Command =>
  withYesOption(new Command('update'))
    .summary('Change the name or the end of a token.')
    .description(
      'Changes the name of a token, or when it ends. If it would end earlier than now, it asks first.',
    )
    .argument('<token>', 'the name or id of the token')
    .option('--name <name>', 'a new name')
    .addOption(expiryOption(cli.terminal.nowMs))
    .action(async (nameOrId: string, options: Options, command: Command) => {
      const { name, expiresAt } = options;
      if (name === undefined && expiresAt === undefined) {
        throw new UsageError('there is nothing to change; give --name or --expires-at');
      }
      const session = cli.open(command);
      const path = { id: await tokenId(session, nameOrId) };
      const use = expiresAt === undefined ? undefined : await tokenUse(session, path.id);
      if (use !== undefined && endsEarlier(expiresAt, use.expiresAt)) {
        await confirmChange(session, options, 'it ends a token earlier', () => {
          const lost = [use.line, `It is refused from ${expiresAt} on.`];
          return Promise.resolve({ lost, question: `End token ${use.name} earlier?` });
        });
      }
      const body = {
        ...(name === undefined ? {} : { name }),
        ...expiryField(expiresAt),
      };
      const updated = await session.client.patch('/v1/tokens/{id}', { params: { path }, body });
      await session.printResource(updated.body.data);
    });

/** @param present null: the token does not end */
function endsEarlier(expiresAt: string | undefined, present: string | null): boolean {
  if (expiresAt === undefined || expiresAt === 'never') return false;
  return present === null || Date.parse(expiresAt) < Date.parse(present);
}
