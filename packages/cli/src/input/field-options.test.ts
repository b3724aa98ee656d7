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
  max_bytes: field('integer', { unit: 'bytes', min: 0, max: 65_536, usual: 1024 }),
  wait_ms: field('integer', { unit: 'ms' }),
  rate: field('integer', { unit: 'bytes per second' }),
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
    expect(Object.values(parse() as object)).toEqual(Array.from({ length: 8 }, () => undefined));
  });

  it('have units, or are numbers in the unit that their names end with', () => {
    const given = ['--max-bytes', '64KB', '--wait-ms', '1.5s', '--rate', '64 KiB/s'];
    expect(parse(...given)).toMatchObject({ max_bytes: 64_000, wait_ms: 1500, rate: 65_536 });
    expect(parse('--wait-ms', '1m 30s')).toMatchObject({ wait_ms: 90_000 });
    expect(parse('--wait-ms', '1500')).toMatchObject({ wait_ms: 1500 });
  });

  it.each([
    [
      '--max-bytes',
      '0.5',
      "option '--max-bytes <size>' argument '0.5' is invalid. It must be a size from 0 bytes to 64 KiB, such as 64KB or 10 MiB.",
    ],
    ['--max-bytes', '10s', 'It must be a size from 0 bytes to 64 KiB'],
    ['--wait-ms', '2 sek', 'It must be a time, such as 500ms or 1m; did you mean sec?'],
    ['--wait-ms', '10 mini', 'such as 500ms or 1m; did you mean min?'],
    ['--max-bytes', '10 MiBs', 'such as 64KB or 10 MiB; did you mean MiB?'],
    ['--max-bytes', '64K', 'such as 64KB or 10 MiB.'],
    ['--statuses', '0.5s', 'It must be a number.'],
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
    expect(help).toContain('--max-bytes <size>');
    expect(help).toContain('what it is (0 bytes to 64 KiB, default 1 KiB)');
    expect(help).toContain('--mode <fast|safe>');
  });
});
