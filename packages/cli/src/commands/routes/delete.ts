import { lossText, lostWithRoute } from '@gateway/client/lost-traffic';
import { Command } from 'commander';
import {
  confirmChange,
  withYesOption,
  type ChangeQuestion,
  type YesOption,
} from '../../confirmation/confirm-change.ts';
import { trafficLine } from '../../confirmation/traffic-lines.ts';
import { readRoute, routeId } from '../../lookup/find-route.ts';
import type { Cli, Session } from '../../session.ts';

/** `gwctl routes delete` */
export const deleteRoute = (cli: Cli): Command =>
  withYesOption(new Command('delete').alias('rm'))
    .summary('Delete a route.')
    .description(
      'Deletes a route: requests to it get 404. It asks first, and reads the route and its requests of the last hour.',
    )
    .argument('<route>', 'the name or id of the route')
    .action(async (nameOrId: string, options: YesOption, command: Command) => {
      const session = cli.open(command);
      const id = await routeId(session, nameOrId);
      await confirmChange(session, options, 'it deletes a route', () => ask(session, id));
      await session.client.delete('/v1/routes/{id}', { params: { path: { id } } });
      session.note(`Route ${nameOrId} is deleted.`);
    });

async function ask(session: Session, id: string): Promise<ChangeQuestion> {
  const route = (await readRoute(session, id)).body.data;
  const { name, environment } = route;
  const traffic = await trafficLine(session, `route ${name}`, { environment, route: name });
  return {
    lost: [traffic, lossText(lostWithRoute(route), name)],
    question: `Delete route ${name} of ${environment}?`,
  };
}
