import { choiceField, exampleId } from '@gateway/shared/definitions/fields';
import { isId } from '@gateway/shared/ids';
import { EXPIRING_DAYS, TOKEN_STATES, UNUSED_DAYS } from '@gateway/shared/tokens/token-states';
import { z } from 'zod';
import { readableOnly } from '../../fields/unreadable.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import {
  cutPage,
  decodeCursor,
  environmentFilter,
  idKey,
  idsParameter,
  listParameters,
  searchParameter,
} from '../../http/list-query.ts';
import { page } from '../../http/reply.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';
import { tokenView, tokenViewSchema } from '../token.ts';
import { tokenOrderOf, tokenOrderParameter, tokenPositionSchema } from '../token-order.ts';
import { listOrderedTokens, listTokens } from '../store/list-tokens.ts';

const LIST = 'tokens';

const query = z.strictObject({
  ...listParameters,
  environment: environmentFilter,
  ids: idsParameter((id) => isId('tok', id), 'Only the tokens of these ids', exampleId('tok')),
  search: searchParameter('token', 'bill'),
  state: choiceField(TOKEN_STATES)
    .optional()
    .meta({
      description: `Only tokens that are this: \`expired\`; \`expiring\` within ${EXPIRING_DAYS} days; \`unused\` for ${UNUSED_DAYS} days, and none of these; or \`active\`, the others.`,
      examples: ['unused'],
    }),
  order: tokenOrderParameter,
});

/** `GET /v1/tokens`. */
export function listTokensEndpoint({ db, clock }: ResourceDeps): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/tokens',
    operationId: 'listTokens',
    tag: 'Tokens',
    summary: 'List tokens',
    description:
      'Lists the tokens that have no more rights than the token of the call, oldest first unless `order` says otherwise. ' +
      'Secrets are not shown.',
    scope: 'tokens:read',
    answers: 'page',
    data: tokenViewSchema,
    errors: [],
    query,
    async handle({ token: caller, query: { limit, cursor, order: name, ...filters } }) {
      if (filters.ids?.length === 0) return page([], null);
      const filter = { within: caller, ...filters, nowMs: clock.nowMs(), limit: limit + 1 };
      if (name === undefined) {
        const after = cursor === undefined ? undefined : decodeCursor(LIST, idKey('tok'), cursor);
        const rows = await listTokens(db, { ...filter, after });
        const cut = cutPage(rows, limit, LIST, (row) => row.id);
        return page(readableOnly(cut.rows, tokenView), cut.nextCursor);
      }
      const order = tokenOrderOf(name);
      const list = `${LIST} ${name}`;
      const after =
        cursor === undefined ? undefined : decodeCursor(list, tokenPositionSchema(order), cursor);
      const rows = await listOrderedTokens(db, { ...filter, order, after });
      const cut = cutPage(rows, limit, list, ({ token, key }) => [key, token.id]);
      const tokens = cut.rows.map(({ token }) => token);
      return page(readableOnly(tokens, tokenView), cut.nextCursor);
    },
  });
}
