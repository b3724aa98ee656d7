import { Command } from 'commander';
import { confirmChange, withYesOption, type YesOption } from '../../confirmation/confirm-change.ts';
import { trafficLine } from '../../confirmation/traffic-lines.ts';
import type { Cli } from '../../session.ts';

/** `gwctl environments delete` */
export const deleteEnvironment = (cli: Cli): Command =>
  withYesOption(new Command('delete').alias('rm'))
    .summary('Delete an empty environment.')
    .description(
      'Deletes an environment that has no services, routes and tokens of its own. It asks first, and reads its requests ' +
        'of the last hour.',
    )
    .argument('<environment>', 'the name of the environment')
    .action(async (name: string, options: YesOption, command: Command) => {
      const session = cli.open(command);
      const params = { path: { name } };
      await confirmChange(session, options, 'it deletes an environment', async () => {
        await session.client.get('/v1/environments/{name}', { params });
        const traffic = await trafficLine(session, `environment ${name}`, { environment: name });
        return { lost: [traffic], question: `Delete environment ${name}?` };
      });
      await session.client.delete('/v1/environments/{name}', { params });
      session.note(`Environment ${name} is deleted.`);
    });
