import { Command } from 'commander';
import {
  confirmChange,
  withYesOption,
  type ChangeQuestion,
  type YesOption,
} from '../../confirmation/confirm-change.ts';
import { trafficLine } from '../../confirmation/traffic-lines.ts';
import { readService, serviceId } from '../../lookup/find-service.ts';
import type { Cli, Session } from '../../session.ts';

/** `gwctl services delete` */
export const deleteService = (cli: Cli): Command =>
  withYesOption(new Command('delete').alias('rm'))
    .summary('Delete a service.')
    .description(
      'Deletes a service. A service that a route names cannot be deleted. It asks first, and reads the service and its ' +
        'requests of the last hour.',
    )
    .argument('<service>', 'the name or id of the service')
    .action(async (nameOrId: string, options: YesOption, command: Command) => {
      const session = cli.open(command);
      const id = await serviceId(session, nameOrId);
      await confirmChange(session, options, 'it deletes a service', () => ask(session, id));
      await session.client.delete('/v1/services/{id}', { params: { path: { id } } });
      session.note(`Service ${nameOrId} is deleted.`);
    });

async function ask(session: Session, id: string): Promise<ChangeQuestion> {
  const { name, environment } = (await readService(session, id)).body.data;
  const filter = { environment, service_id: id };
  return {
    lost: [await trafficLine(session, `service ${name}`, filter)],
    question: `Delete service ${name} of ${environment}?`,
  };
}
