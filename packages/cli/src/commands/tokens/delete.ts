import { Command } from 'commander';
import { tokenId } from '../../lookup/find-token.ts';
import type { Cli } from '../../session.ts';

/** `gwctl tokens delete` */
export const deleteToken = (cli: Cli): Command =>
  new Command('delete')
    .summary('Revoke a token.')
    .description('Revokes a token: requests with it are refused from then on.')
    .argument('<token>', 'the name or id of the token')
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const session = cli.open(command);
      const id = await tokenId(session, nameOrId);
      await session.client.delete('/v1/tokens/{id}', { params: { path: { id } } });
      session.note(`Token ${nameOrId} is revoked.`);
    });
