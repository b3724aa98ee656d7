import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { eventsOf, findLogEvents } from './find-log-events.ts';
import { LOGS_PAGE, withEvents } from './logs-page.ts';

const eventsIn = (text: string) =>
  eventsOf(
    ts.createSourceFile('packages/data-plane/src/a/b.ts', text, ts.ScriptTarget.Latest, true),
  ).map(({ message, level, fields }) => [level, message, fields.join(' ')]);

it('docs/run/logs.md lists every event that the planes log; npm run generate writes it', () => {
  const page = readFileSync(LOGS_PAGE, 'utf8');
  expect(page).toBe(withEvents(page, findLogEvents()));
});

describe('the events of a source', () => {
  it.each([
    ["log.info('ready');", [['info', 'ready', '']]],
    ["this.#options.log.warn({ reason, id: 1 }, 'lost');", [['warn', 'lost', 'reason id']]],
    ['log.error(`${name} stopped`);', [['error', '{name} stopped', '']]],
    [
      "log.info(a ? 'up' : 'down');",
      [
        ['info', 'up', ''],
        ['info', 'down', ''],
      ],
    ],
    [
      "const fields = { ...more(), b }; function more() { return { a }; } log.info(fields, 'x')",
      [['info', 'x', 'a b']],
    ],
    [
      "log[bad ? 'warn' : 'info'](fields(), 'x'); function fields() { return { a }; }",
      [
        ['warn', 'x', 'a'],
        ['info', 'x', 'a'],
      ],
    ],
    ["console.log('no'); math.log(2); blog.info('no');", []],
  ])('%s', (text, events) => {
    expect(eventsIn(text)).toEqual(events);
  });

  it('must be written out in it', () => {
    expect(() => eventsIn('function f(m) { log.info(m); }')).toThrow(/b\.ts:1: the message/);
    expect(() => eventsIn("function f(m) { log.info(m, 'x'); }")).toThrow(/b\.ts:1: the fields/);
  });
});
