import { Command } from 'commander';
import type { Cli } from '../../session.ts';
import { createService } from './create.ts';
import { deleteService } from './delete.ts';
import { getService } from './get.ts';
import { serviceHealth } from './health.ts';
import { listServices } from './list.ts';
import { updateService } from './update.ts';

/** `gwctl services …` */
export const servicesCommand = (cli: Cli): Command =>
  new Command('services')
    .description('List, show, create, change and delete services, and show their health.')
    .addCommand(listServices(cli))
    .addCommand(getService(cli))
    .addCommand(createService(cli))
    .addCommand(updateService(cli))
    .addCommand(deleteService(cli))
    .addCommand(serviceHealth(cli));
