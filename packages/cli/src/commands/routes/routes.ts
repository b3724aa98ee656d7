import { Command } from 'commander';
import type { Cli } from '../../session.ts';
import { createRoute } from './create.ts';
import { deleteRoute } from './delete.ts';
import { getRoute } from './get.ts';
import { listRoutes } from './list.ts';
import { updateRoute } from './update.ts';

/** `gwctl routes …` */
export const routesCommand = (cli: Cli): Command =>
  new Command('routes')
    .description('List, show, create, change and delete routes.')
    .addCommand(listRoutes(cli))
    .addCommand(getRoute(cli))
    .addCommand(createRoute(cli))
    .addCommand(updateRoute(cli))
    .addCommand(deleteRoute(cli));
