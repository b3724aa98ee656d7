import { SERVICE_FORM } from '@gateway/client/form-fields';
import type { Command } from 'commander';
import { optionFields, withFieldOptions } from '../../input/field-options.ts';
import type { Fields } from '../../input/read-body.ts';

/** The name is an argument of a new service. */
const OWN = ['name'];

/** Adds the options of the fields of a service. */
export const withServiceOptions = (command: Command): Command =>
  withFieldOptions(command, SERVICE_FORM, OWN);

/** The fields of these options; undefined if an option was not given. */
export const serviceFields = (options: object): Fields => optionFields(options, SERVICE_FORM, OWN);
