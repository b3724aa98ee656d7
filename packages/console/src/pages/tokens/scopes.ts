/** What each scope lets a token do, in words. The scope `*` has all of them, and those of later versions. */
export const SCOPES = [
  ['proxy', 'Call routes'],
  ['services:read', 'See services and their health'],
  ['services:write', 'Create, change and delete services'],
  ['routes:read', 'See routes'],
  ['routes:write', 'Create, change and delete routes'],
  ['requests:read', 'See requests and statistics'],
  ['tokens:read', 'See tokens, without secrets'],
  ['tokens:write', 'Create, rotate and revoke tokens; see them'],
  ['config:read', 'See versions of the configuration and data planes'],
  ['config:write', 'Environments and roll-back; has config:read and audit:read'],
  ['audit:read', 'See who changed what'],
] as const;
