import { Command } from 'commander';
import type { Cli } from '../../session.ts';
import { createEnvironment } from './create.ts';
import { deleteEnvironment } from './delete.ts';
import { getEnvironment } from './get.ts';
import { listEnvironments } from './list.ts';

/** `gwctl environments …` */
export const environmentsCommand = (cli: Cli): Command =>
  new Command('environments')
    .description('List, show, create and delete environments.')
    .addCommand(listEnvironments(cli))
    .addCommand(getEnvironment(cli))
    .addCommand(createEnvironment(cli))
    .addCommand(deleteEnvironment(cli));
