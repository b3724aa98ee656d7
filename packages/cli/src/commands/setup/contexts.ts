import { Command } from 'commander';
import type { Cli } from '../../session.ts';
import { deleteContext } from './contexts-delete.ts';
import { listContexts } from './contexts-list.ts';
import { useContext } from './contexts-use.ts';

/** `gwctl contexts …` */
export const contextsCommand = (cli: Cli): Command =>
  new Command('contexts')
    .description('List, select and delete contexts.')
    .addCommand(listContexts(cli))
    .addCommand(useContext(cli))
    .addCommand(deleteContext(cli));
