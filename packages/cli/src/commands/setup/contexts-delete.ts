import { Command } from 'commander';
import { readContexts, writeContexts } from '../../contexts/context-file.ts';
import { contextNamed } from '../../contexts/select-context.ts';
import type { Cli } from '../../session.ts';

/** `gwctl contexts delete` */
export const deleteContext = ({ terminal }: Cli): Command =>
  new Command('delete')
    .alias('rm')
    .summary('Forget a context and its token.')
    .description(
      'Forgets a context and its token. The token stays valid: revoke it with tokens delete.',
    )
    .argument('<context>', 'the name of the context')
    .action((name: string) => {
      const { current, contexts } = readContexts(terminal.env);
      contextNamed({ contexts }, name);
      const rest = Object.entries(contexts).filter(([other]) => other !== name);
      writeContexts(terminal.env, {
        ...(current === undefined || current === name ? {} : { current }),
        contexts: Object.fromEntries(rest),
      });
      terminal.error(`Context ${name} is deleted.\n`);
    });
