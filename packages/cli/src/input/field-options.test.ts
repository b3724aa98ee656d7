import { describe, expect, it } from '@jest/globals';
import type { FormField } from '@gateway/client/form-fields';
import { Command } from 'commander';
import { optionFields, withFieldOptions } from './field-options.ts';

const plain = { label: 'A', help: 'What it is.', choices: [], hasNumbers: false, fields: {} };
const field = (kind: FormField['kind'], more: Partial<FormField> = {}) => ({
  ...plain,
  kind,
  ...more,
});
const choices = [
  ['fast', 'Fast'],
  ['safe', 'Safe'],
] as const;
const fields = {
  name: field('text'),
  max_bytes: field('integer', { unit: 'bytes', min: 0, max: 9, usual: 3 }),
  share: field('number'),
  strict: field('switch'),
  mode: field('choice', { choices }),
  statuses: field('list', { hasNumbers: true }),
  regions: field('list'),
  limits: field('object', { fields: { low: field('integer') } }),
  auth: field('other'),
};

function parse(...args: readonly string[]): unknown {
  const command = withFieldOptions(new Command(), fields, ['name']).exitOverride();
  command.configureOutput({ writeErr: () => undefined });
  return optionFields(command.parse(args, { from: 'user' }).opts(), fields, ['name']);
}

describe('the options of fields', () => {
  it('have the values of the API, and none that was not given', () => {
    const given = ['--max-bytes', '4', '--share', '0.5', '--strict', 'false', '--mode', 'safe'];
    expect(parse(...given, '--statuses', '502, 503', '--regions', 'a,b')).toEqual({
      max_bytes: 4,
      share: 0.5,
      strict: false,
      mode: 'safe',
      statuses: [502, 503],
      regions: ['a', 'b'],
    });
    expect(Object.values(parse() as object)).toEqual(Array.from({ length: 6 }, () => undefined));
  });

  it.each([
    ['--max-bytes', '0.5', 'It must be a whole number.'],
    ['--share', 'half', 'It must be a number.'],
    ['--strict', 'yes', 'It must be true or false.'],
    ['--mode', 'slow', 'It must be one of fast, safe.'],
    ['--statuses', '502,x', 'It must be a number.'],
    ['--limits', '1', 'unknown option'],
    ['--name', 'x', 'unknown option'],
  ])('refuse %s %s', (option, value, message) => {
    expect(() => parse(option, value)).toThrow(message);
  });

  it('say what the field is, its bounds and its default', () => {
    const help = withFieldOptions(new Command(), fields, ['name']).helpInformation();
    expect(help).toContain('--max-bytes <bytes>');
    expect(help).toContain('what it is (0 to 9, default 3)');
    expect(help).toContain('--mode <fast|safe>');
  });
});
