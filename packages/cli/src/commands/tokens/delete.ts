import { Command } from 'commander';
import { confirmChange, withYesOption, type YesOption } from '../../confirmation/confirm-change.ts';
import { tokenId } from '../../lookup/find-token.ts';
import type { Cli } from '../../session.ts';
import { tokenUse } from './use-line.ts';

const LOST = 'Callers with this token are refused from now on. It cannot be restored.';

/** `gwctl tokens delete` */
export const deleteToken = (cli: Cli): Command =>
  withYesOption(new Command('delete').aliases(['rm', 'revoke']))
    .summary('Revoke a token.')
    .description('Revokes a token: requests with it are refused from then on. It asks first.')
    .argument('<token>', 'the name or id of the token')
    .action(async (nameOrId: string, options: YesOption, command: Command) => {
      const session = cli.open(command);
      const id = await tokenId(session, nameOrId);
      await confirmChange(session, options, 'it revokes a token', async () => {
        const { name, line } = await tokenUse(session, id);
        return { lost: [line, LOST], question: `Revoke token ${name}?` };
      });
      await session.client.delete('/v1/tokens/{id}', { params: { path: { id } } });
      session.note(`Token ${nameOrId} is revoked.`);
    });
