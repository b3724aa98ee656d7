import { Command } from 'commander';
import type { Cli } from '../../session.ts';
import { createToken } from './create.ts';
import { deleteToken } from './delete.ts';
import { getToken } from './get.ts';
import { listTokens } from './list.ts';
import { rotateToken } from './rotate.ts';
import { updateToken } from './update.ts';

/** `gwctl tokens …` */
export const tokensCommand = (cli: Cli): Command =>
  new Command('tokens')
    .description('List, show, create, change, rotate and revoke tokens.')
    .addCommand(listTokens(cli))
    .addCommand(getToken(cli))
    .addCommand(createToken(cli))
    .addCommand(updateToken(cli))
    .addCommand(rotateToken(cli))
    .addCommand(deleteToken(cli));
