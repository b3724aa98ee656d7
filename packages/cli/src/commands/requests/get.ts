import { Command } from 'commander';
import { linesText } from '../../output/print.ts';
import type { Cli } from '../../session.ts';
import { nameReferences } from './named-record.ts';
import { recordLines } from './record-lines.ts';

/** `gwctl requests get` */
export const getRequest = (cli: Cli): Command =>
  new Command('get')
    .summary('Show what happened to a request.')
    .description(
      'Shows how a request ended, where its time went, and each attempt. The id is in the response header X-Request-Id.',
    )
    .argument('<id>', 'the id of the request')
    .action(async (id: string, _options: object, command: Command) => {
      const session = cli.open(command);
      const { body } = await session.client.get('/v1/requests/{id}', { params: { path: { id } } });
      const { printsData, terminal } = session;
      if (printsData) await session.printResource(body.data);
      else {
        const named = await nameReferences(session, body.data);
        terminal.out(linesText(recordLines(body.data, named, terminal)));
      }
    });
