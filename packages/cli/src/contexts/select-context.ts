import { UsageError } from '../program/exit-codes.ts';
import { didYouMean } from '@gateway/shared/similar/did-you-mean';
import { parseBaseUrl } from './base-url.ts';
import { readContexts, type Context, type ContextFile } from './context-file.ts';

export interface ContextQuestion {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The value of `--context`. */
  readonly named: string | undefined;
}

/** A context, with its name unless the environment variables give the gateway. */
export interface SelectedContext extends Context {
  readonly name: string | undefined;
}

/**
 * The gateway and the token of a command: of `--context`, else of `GATEWAY_URL` and `GATEWAY_TOKEN`, else of the current
 * context. The token of a context is sent to the URL of that context only.
 */
export function selectContext({ env, named }: ContextQuestion): SelectedContext {
  if (named !== undefined) return { name: named, ...contextNamed(readContexts(env), named) };
  const url = env['GATEWAY_URL'] || undefined;
  const token = env['GATEWAY_TOKEN'] || undefined;
  if (url !== undefined && token === undefined) {
    throw new UsageError('GATEWAY_URL is set without GATEWAY_TOKEN; set both, or neither');
  }
  if (url !== undefined && token !== undefined) {
    return { name: undefined, url: parseBaseUrl(url, 'GATEWAY_URL'), token };
  }
  const file = readContexts(env);
  if (file.current === undefined) {
    throw new UsageError('no gateway is selected; run gwctl login, or set GATEWAY_URL');
  }
  const current = { name: file.current, ...contextNamed(file, file.current) };
  return token === undefined ? current : { ...current, token };
}

/** @throws UsageError if there is no such context; the message lists those that exist */
export function contextNamed(file: ContextFile, name: string): Context {
  const found = Object.hasOwn(file.contexts, name) ? file.contexts[name] : undefined;
  if (found) return found;
  const names = Object.keys(file.contexts).sort().join(', ');
  const suggestion = didYouMean(name, Object.keys(file.contexts));
  throw new UsageError(
    `there is no context ${name}${suggestion || `; contexts: ${names || 'none'}`}`,
  );
}
