// Runs a command in the foreground and forwards signals to it.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a command with this terminal. Resolves with `{code}` or `{signal: {name, number}}`, and with `interrupted`, the first
 * signal that this process received meanwhile. SIGINT, SIGTERM and SIGHUP are forwarded to the child. A child that also receives
 * Ctrl-C from the terminal sees it twice.
 */
export function runForeground(command, args, { cwd, env, stdin, stdout = 'inherit' }) {
  return new Promise((resolve) => {
    let interrupted;
    const describe = (name) => ({ name, number: constants.signals[name] });
    const forward = (name) => {
      interrupted ??= describe(name);
      child.kill(name);
    };
    const handlers = forwarded.map((name) => [name, () => forward(name)]);
    for (const [name, handler] of handlers) process.on(name, handler);
    const end = (result) => {
      for (const [name, handler] of handlers) process.off(name, handler);
      resolve(result);
    };
    const child = spawn(command, args, { cwd, env, stdio: [stdin, stdout, 'inherit'] });
    child.once('error', (error) => {
      process.stderr.write(`gateway: ${command} could not be run: ${error.message}\n`);
      end({ code: 1 });
    });
    child.once('exit', (code, name) => {
      end({ interrupted, ...(name ? { signal: describe(name) } : { code }) });
    });
  });
}
