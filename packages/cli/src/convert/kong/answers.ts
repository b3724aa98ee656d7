import { redirect, respond, withoutQuery } from '../answers.ts';
import type { RouteDraft } from '../draft.ts';
import type { KongPlugin } from './plugin.ts';

const DEFAULT_STATUS = 503;

/** request-termination: a constant answer. */
export function terminate(route: RouteDraft, { config }: KongPlugin): void {
  const status = config?.number('status_code') ?? DEFAULT_STATUS;
  const body = config?.text('body');
  const message = config?.text('message');
  const type = config?.text('content_type');
  if (config?.get('trigger') !== undefined || config?.flag('echo') === true) {
    route.leftOut ??= 'the plugin request-termination answers some requests only';
    route.access = 'guarded';
    return;
  }
  if (body !== undefined) respond(route, status, body, type ?? 'application/json; charset=utf-8');
  else if (message === undefined) respond(route, status, '', undefined);
  else respond(route, status, JSON.stringify({ message }), 'application/json; charset=utf-8');
}

/** redirect: to a constant location. */
export function redirectTo(route: RouteDraft, { config }: KongPlugin): void {
  const location = config?.text('location') ?? '';
  const status = config?.number('status_code') ?? 301;
  if (config?.flag('keep_incoming_path') === true) {
    route.leftOut ??= 'the plugin redirect adds the path of the request';
  } else redirect(route, status, withoutQuery(location));
}
