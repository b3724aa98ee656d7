import type { Command } from 'commander';
import type { Fields } from '../../input/read-body.ts';

export interface ServiceOptions {
  readonly url?: string;
  readonly healthPath?: string;
}

/** Adds the options of the fields that most services set. */
export const withServiceOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'where the service is')
    .option('--health-path <path>', 'the path of its health checks');

/** The fields of these options; undefined if an option was not given. */
export const serviceFields = ({ url, healthPath }: ServiceOptions): Fields => {
  return { url, health_path: healthPath };
};
