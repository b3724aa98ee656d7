import { withoutTokenSecrets } from '@gateway/shared/tokens/secret';
import type { Request } from 'express';

const MAX_CHARS = 1024;

/** The path of a call without its query and without secrets that somebody put into it. */
export function loggedPath(request: Pick<Request, 'path'>): string {
  return withoutTokenSecrets(request.path).slice(0, MAX_CHARS);
}
