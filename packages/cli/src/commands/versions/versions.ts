import { Command } from 'commander';
import type { Cli } from '../../session.ts';
import { diffVersions } from './diff.ts';
import { getVersion } from './get.ts';
import { listVersions } from './list.ts';

/** `gwctl versions …` */
export const versionsCommand = (cli: Cli): Command =>
  new Command('versions')
    .description(
      'Lists, shows and compares the versions of the configuration of an environment. Without a command it lists them.',
    )
    .addCommand(listVersions(cli), { isDefault: true })
    .addCommand(getVersion(cli))
    .addCommand(diffVersions(cli));
