import { Command } from 'commander';
import type { Cli } from '../../session.ts';
import { getRequest } from './get.ts';
import { listRequests } from './list.ts';
import { tailRequests } from './tail/tail.ts';

/** `gwctl requests …` */
export const requestsCommand = (cli: Cli): Command =>
  new Command('requests')
    .description('List and follow requests, and show what happened to one.')
    .addCommand(listRequests(cli))
    .addCommand(tailRequests(cli))
    .addCommand(getRequest(cli));
