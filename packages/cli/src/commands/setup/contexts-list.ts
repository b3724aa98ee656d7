import { Command } from 'commander';
import { readContexts } from '../../contexts/context-file.ts';
import { listText } from '../../output/print.ts';
import { globalsOf } from '../../program/global-options.ts';
import type { Cli } from '../../session.ts';
import { painted } from '../../terminal/painted.ts';

/** `gwctl contexts list` */
export const listContexts = ({ terminal }: Cli): Command =>
  new Command('list')
    .alias('ls')
    .description('List the contexts, without their tokens.')
    .action(async (_options: object, command: Command) => {
      const { current, contexts } = readContexts(terminal.env);
      const listed = Object.entries(contexts).map(([name, { url, environment }]) => {
        return { name, url, environment: environment ?? null, current: name === current };
      });
      const { output, color } = globalsOf(command);
      terminal.out(
        await listText(
          listed,
          output,
          [
            { title: 'CURRENT', of: (context) => (context.current ? '*' : '') },
            { title: 'NAME', of: ({ name }) => name },
            { title: 'URL', shrinks: 20, of: ({ url }) => url },
            { title: 'ENVIRONMENT', of: ({ environment }) => environment },
          ],
          painted(terminal, color),
        ),
      );
    });
