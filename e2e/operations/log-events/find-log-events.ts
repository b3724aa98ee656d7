import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { resolveFields, resolveMessages } from './resolve-arguments.ts';

/** What a call site logs. */
export interface LogEvent {
  /** What varies in it stands in braces. */
  readonly message: string;
  readonly level: string;
  /** The names at the call site. */
  readonly fields: readonly string[];
  /** The package and the folder of the call site, such as `data-plane/records`. */
  readonly place: string;
}

const LEVELS = new Set(['fatal', 'error', 'warn', 'info', 'debug', 'trace']);
/** What a logger is called: `log`, `this.#log`, `options.log`. */
const LOGGER = /(^|\.)#?log$/;
const root = path.resolve(import.meta.dirname, '../../..');

/**
 * Reads the sources of the planes.
 *
 * @throws Error that names the call site whose message or fields are not written out
 */
export function findLogEvents(): LogEvent[] {
  const pattern = 'packages/{shared,control-plane,data-plane}/src/**/*.ts';
  const files = globSync(pattern, { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  return files.toSorted().flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    return eventsOf(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  });
}

export function eventsOf(source: ts.SourceFile): LogEvent[] {
  const events: LogEvent[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) events.push(...eventsOfCall(node, source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return events;
}

function eventsOfCall(call: ts.CallExpression, source: ts.SourceFile): LogEvent[] {
  const { expression, arguments: given } = call;
  const levels = levelsOf(expression, source).filter((level) => LEVELS.has(level));
  if (levels.length === 0) return [];
  const message = given.at(-1);
  if (message === undefined) throw new Error(`${source.fileName}: a log call without a message`);
  const fields = given.length > 1 && given[0] !== undefined ? resolveFields(given[0], source) : [];
  const [, name = '', , folder = ''] = source.fileName.split('/');
  const place = folder.endsWith('.ts') ? name : `${name}/${folder}`;
  const messages = resolveMessages(message, source);
  return levels.flatMap((level) =>
    messages.map((text) => ({ message: text, level, fields, place })),
  );
}

/** The levels of `log.level(…)`, or of `log[level](…)`; none if it is not a logger. */
function levelsOf(callee: ts.Expression, source: ts.SourceFile): string[] {
  const isAccess = ts.isPropertyAccessExpression(callee) || ts.isElementAccessExpression(callee);
  if (!isAccess || !LOGGER.test(callee.expression.getText())) return [];
  return ts.isPropertyAccessExpression(callee)
    ? [callee.name.text]
    : resolveMessages(callee.argumentExpression, source);
}
