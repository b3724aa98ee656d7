// One child in the foreground whose signals and end are ours.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a command with this terminal and resolves with `{code}` or `{signal: {name, number}}`.
 * Every SIGINT, SIGTERM and SIGHUP from before the spawn until the end reaches the child; a child
 * that also got the terminal's own Ctrl-C sees it twice and must bear that.
 */
export function runForeground(command, args, { cwd, env, stdin }) {
  return new Promise((resolve) => {
    let child;
    const handlers = forwarded.map((name) => [name, () => child?.kill(name)]);
    for (const [name, handler] of handlers) process.on(name, handler);
    const end = (result) => {
      for (const [name, handler] of handlers) process.off(name, handler);
      resolve(result);
    };
    child = spawn(command, args, { cwd, env, stdio: [stdin, 'inherit', 'inherit'] });
    child.once('error', (error) => {
      process.stderr.write(`gateway: ${command} could not be run: ${error.message}\n`);
      end({ code: 1 });
    });
    child.once('exit', (code, name) => {
      end(name ? { signal: { name, number: constants.signals[name] } } : { code });
    });
  });
}
