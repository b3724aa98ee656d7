/** Parameters and fields that name nothing beyond what the others name, by the reason. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  'a number or a time': [
    ...['query:limit', 'query:status', 'query:min_duration_ms', 'query:since', 'query:until'],
    ...['query:from', 'query:to', 'path:version', 'query:version', 'body:version'],
    ...['body:timeout_ms', 'body:retry_count', 'body:max_body_bytes', 'body:grace_seconds'],
    ...['body:if_version', 'body:revision', 'body:created_at', 'body:updated_at'],
    ...['body:expires_at', 'body:last_used_at'],
  ],
  'one of a few words': [
    ...['query:status_class', 'query:outcome', 'query:method', 'query:error_code', 'query:step'],
    ...['query:order', 'query:resource_type', 'query:action', 'body:status', 'body:prune'],
    ...['body:dry_run', 'body:anonymous', 'body:method', 'header:Prefer'],
  ],
  'a setting of the resource itself': [
    ...['body:health_path', 'body:health_check', 'body:limits', 'body:credential', 'body:tls'],
    ...['body:methods', 'body:auth', 'body:rate_limit', 'body:retry', 'body:idempotency'],
    ...['body:regions', 'body:allow_encoded_control_characters', 'body:access_log', 'body:url'],
    ...['body:upstreams', 'body:scopes', 'body:query', 'body:body'],
  ],
  'the revision of the resource in the path': ['header:If-Match', 'header:If-None-Match'],
  'a service of an environment that the token covers': [
    ...['listServices query:name', 'createService body:name', 'updateService body:name'],
    ...['putService body:name', 'putService path:id'],
  ],
  'a key of the token of the call': ['header:Idempotency-Key'],
  'the name of a token': ['createToken body:name', 'updateToken body:name'],
  'an address of callers of the route': ['body:client_ip'],
  'a data plane, which every reader of the configuration may list': ['body:data_plane'],
};

/** The reason by `in:name` or `operationId in:name`. */
export const NAMES_NOTHING: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(REASONS).flatMap(([reason, names]) => names.map((name) => [name, reason])),
);
