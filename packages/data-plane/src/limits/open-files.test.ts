import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { withinOpenFiles } from './open-files.ts';

function within(maxConnections: number, openFiles: number | undefined) {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  return { connections: withinOpenFiles(maxConnections, openFiles, log), lines };
}

describe('withinOpenFiles', () => {
  it('reserves a quarter of the open files for other uses and logs it', () => {
    const { connections, lines } = within(20_000, 1024);
    expect(connections).toBe(768);
    expect(lines.join()).toContain('"max_connections":768');
  });

  it('keeps the setting if it fits or the limit is unknown', () => {
    expect(within(20_000, 1_048_576)).toEqual({ connections: 20_000, lines: [] });
    expect(within(20_000, undefined)).toEqual({ connections: 20_000, lines: [] });
  });
});
