/* What bounds the size of a record, and its life. */

/** Longer paths and longer ids of callers are cut, so that the size of a record is bounded. */
export const MAX_RECORDED_PATH_CHARS = 1024;
export const MAX_RECORDED_CLIENT_ID_CHARS = 128;
/** The limit of OpenID Connect Core section 2. Longer subjects are refused. */
export const MAX_RECORDED_SUBJECT_CHARS = 255;
/** How many claims of a JWT are recorded, and the length at which each is cut. */
export const MAX_RECORDED_CLAIMS = 20;
export const MAX_RECORDED_CLAIM_CHARS = 256;

/** Further names of header fields, and further characters of them, are left out of the record. */
export const MAX_RECORDED_HEADER_NAMES = 50;
export const MAX_RECORDED_HEADER_NAME_CHARS = 1024;
/** The longest domain name with a port. Longer hosts are cut. */
export const MAX_RECORDED_HOST_CHARS = 260;

/** Longer request ids of upstreams are cut. */
export const MAX_RECORDED_UPSTREAM_ID_CHARS = 128;

/** How many days a record can be read. */
export const RECORD_RETENTION_DAYS = 30;
