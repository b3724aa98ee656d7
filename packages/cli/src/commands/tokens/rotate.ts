import { Command } from 'commander';
import { confirmChange, withYesOption, type YesOption } from '../../confirmation/confirm-change.ts';
import { amountOption } from '../../input/amounts.ts';
import { tokenId } from '../../lookup/find-token.ts';
import type { Cli } from '../../session.ts';
import { SECRET_NOTE } from './options.ts';
import { tokenUse } from './use-line.ts';

interface Options extends YesOption {
  readonly graceSeconds?: number;
}

const GRACE_HELP = 'how long the old secret works: 1h, or a number of seconds';

/** `gwctl tokens rotate` */
export const rotateToken = (cli: Cli): Command =>
  withYesOption(new Command('rotate'))
    .summary('Give a token a new secret, and print it once.')
    .description(
      'Gives a token a new secret and prints it only now, on stdout. The old secret works until the grace period ends; ' +
        'without a grace period, it asks first.',
    )
    .argument('<token>', 'the name or id of the token')
    .option('--grace-seconds <time>', GRACE_HELP, amountOption({ unit: 'seconds' }))
    .action(async (nameOrId: string, options: Options, command: Command) => {
      const { graceSeconds } = options;
      const session = cli.open(command);
      const path = { id: await tokenId(session, nameOrId) };
      if (graceSeconds === 0) {
        await confirmChange(session, options, 'it ends the old secret at once', async () => {
          const { name, line } = await tokenUse(session, path.id);
          const lost = [line, 'Its old secret is refused from now on.'];
          return { lost, question: `Rotate token ${name}?` };
        });
      }
      const body = graceSeconds === undefined ? {} : { grace_seconds: graceSeconds };
      const rotated = await session.client.post('/v1/tokens/{id}/rotate', {
        params: { path },
        body,
      });
      await session.printResource(rotated.body.data);
      session.note(SECRET_NOTE);
    });
