import { Command } from 'commander';
import { readContexts, writeContexts } from '../../contexts/context-file.ts';
import { contextNamed } from '../../contexts/select-context.ts';
import type { Cli } from '../../session.ts';

/** `gwctl contexts use` */
export const useContext = ({ terminal }: Cli): Command =>
  new Command('use')
    .description('Make a context the current one.')
    .argument('<context>', 'the name of the context')
    .action((name: string) => {
      const file = readContexts(terminal.env);
      contextNamed(file, name);
      writeContexts(terminal.env, { ...file, current: name });
      terminal.error(`Context ${name} is the current one.\n`);
    });
