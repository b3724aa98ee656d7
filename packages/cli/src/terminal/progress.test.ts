import { expect, it } from '@jest/globals';
import { fakeTerminal } from '../../test/fake-terminal.ts';
import { withProgress } from './progress.ts';
import type { Terminal } from './terminal.ts';

/** A terminal whose time passes when the test says so. */
function steppedTerminal(fields: Partial<Terminal> = {}) {
  const waits: number[] = [];
  let pass: () => void = () => undefined;
  const terminal = fakeTerminal({
    stderrColumns: 12,
    pause(delayMs, signal) {
      waits.push(delayMs);
      return new Promise((resolve, reject) => {
        pass = resolve;
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    },
    ...fields,
  });
  const step = async () => {
    pass();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { terminal, waits, step };
}

it('draws after a second, replaces what it drew, and erases it at the end', async () => {
  const { terminal, waits, step } = steppedTerminal();
  const result = await withProgress(terminal, 'Applying 1000 routes', async ({ show }) => {
    expect(terminal.written).toEqual([]);
    await step();
    show(['dp-1\u001b[2J', 'dp-2']);
    await step();
    await step();
    return 'done';
  });
  expect(result).toBe('done');
  expect(waits).toEqual([1000, 100, 100, 100]);
  expect(terminal.written).toEqual([
    '⠋ Applying ',
    '\r\u001b[J⠙ Applying \n  dp-1\\u001\n  dp-2',
    '\r\u001b[2A\u001b[J⠹ Applying \n  dp-1\\u001\n  dp-2',
    '\r\u001b[2A\u001b[J',
  ]);
});

it('writes nothing if the work is quick or stderr is no terminal, and passes an error on', async () => {
  const quick = steppedTerminal();
  await withProgress(quick.terminal, 'Applying', () => Promise.resolve());
  expect(quick.terminal.written).toEqual([]);
  const file = steppedTerminal({ stderrColumns: undefined });
  const failing = withProgress(file.terminal, 'Applying', () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  expect(file.waits).toEqual([]);
});

it('draws in ASCII if the terminal shows no other characters', async () => {
  const { terminal, step } = steppedTerminal({ unicode: false });
  await withProgress(terminal, 'Applying', step);
  expect(terminal.written[0]).toBe('| Applying');
});
