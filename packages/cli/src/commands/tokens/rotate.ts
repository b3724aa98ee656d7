import { Command } from 'commander';
import { wholeNumber } from '../../input/numbers.ts';
import { tokenId } from '../../lookup/find-token.ts';
import type { Cli } from '../../session.ts';
import { SECRET_NOTE } from './options.ts';

interface Options {
  readonly graceSeconds?: number;
}

/** `gwctl tokens rotate` */
export const rotateToken = (cli: Cli): Command =>
  new Command('rotate')
    .summary('Give a token a new secret, and print it once.')
    .description(
      'Gives a token a new secret and prints it this once, on stdout. The old secret works until the grace period ends.',
    )
    .argument('<token>', 'the name or id of the token')
    .option('--grace-seconds <seconds>', 'how long the old secret works', wholeNumber)
    .action(async (nameOrId: string, { graceSeconds }: Options, command: Command) => {
      const session = cli.open(command);
      const path = { id: await tokenId(session, nameOrId) };
      const body = graceSeconds === undefined ? {} : { grace_seconds: graceSeconds };
      const rotated = await session.client.post('/v1/tokens/{id}/rotate', {
        params: { path },
        body,
      });
      session.printResource(rotated.body.data);
      session.note(SECRET_NOTE);
    });
