import { Command } from 'commander';
import type { Cli } from '../../session.ts';
import { getRequest } from './get.ts';
import { listRequests } from './list.ts';

/** `gwctl requests …` */
export const requestsCommand = (cli: Cli): Command =>
  new Command('requests')
    .description('List requests, and show what happened to one.')
    .addCommand(listRequests(cli))
    .addCommand(getRequest(cli));
