import {
  parseLocation,
  REDIRECT_STATUSES,
  type LocationTemplate,
} from '@gateway/shared/definitions/route-redirect';
import { BODILESS_STATUSES } from '@gateway/shared/definitions/route-respond';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';

/** What the gateway answers itself, in place of a service. */
export type CompiledAnswer = FixedAnswer | Redirect;

interface FixedAnswer {
  readonly kind: 'respond';
  readonly status: number;
  readonly fields: readonly string[];
  readonly body: Buffer;
}

interface Redirect {
  readonly kind: 'redirect';
  readonly status: number;
  readonly location: LocationTemplate;
}

type Targets = Pick<SnapshotRoute, 'respond' | 'redirect'>;

/** @throws Error if the answer could not be sent; a later release may have wider bounds */
export function compileAnswer({ respond, redirect }: Targets): CompiledAnswer | undefined {
  if (respond === null) return redirect === null ? undefined : compileRedirect(redirect);
  if (redirect !== null) throw new Error('it has two answers');
  return compileRespond(respond);
}

function compileRedirect({ status, location }: NonNullable<Targets['redirect']>): Redirect {
  if (!REDIRECT_STATUSES.includes(status)) throw new Error('the status of its redirect is none');
  return { kind: 'redirect', status, location: parseLocation(location) };
}

/** Statuses that have no Content-Length either (RFC 9110 section 8.6). */
const WITHOUT_LENGTH: ReadonlySet<number> = new Set([204, 304]);

function compileRespond(respond: NonNullable<Targets['respond']>): FixedAnswer {
  const { status, content_type: contentType } = respond;
  if (status < 200 || status > 599) throw new Error('the status of its answer is no final one');
  if (!/^[!-~](?:[ -~]*[!-~])?$/.test(contentType)) throw new Error('its content type is none');
  const body = Buffer.from(BODILESS_STATUSES.has(status) ? '' : respond.body);
  return {
    kind: 'respond',
    status,
    fields: [
      ...(body.length === 0 ? [] : ['Content-Type', contentType]),
      ...(WITHOUT_LENGTH.has(status) ? [] : ['Content-Length', String(body.length)]),
    ],
    body,
  };
}
