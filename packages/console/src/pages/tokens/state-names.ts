import { EXPIRING_DAYS, UNUSED_DAYS, type TokenState } from '@gateway/shared/tokens/token-states';

/** What people call the states of tokens. */
export const STATE_NAMES: Readonly<Record<TokenState, string>> = {
  active: 'Active',
  expiring: `Expires within ${EXPIRING_DAYS} days`,
  unused: `Unused for ${UNUSED_DAYS} days`,
  expired: 'Expired',
};
