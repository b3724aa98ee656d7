import type { Conversion, RouteDraft } from '../draft.ts';
import type { Directive } from './directives.ts';
import type { Scope } from './scope.ts';

/** Directives that other files read, or that only say where directives stand. */
const READ =
  /^(server|location|listen|server_name|upstream|http|events|proxy_pass|proxy_set_header|proxy_hide_header|proxy_redirect|add_header|return|rewrite|client_max_body_size|proxy_read_timeout|proxy_send_timeout|proxy_connect_timeout|proxy_next_upstream|proxy_next_upstream_tries|limit_req|limit_req_zone|auth_basic|auth_basic_user_file|auth_request|auth_request_set|allow|deny|satisfy|internal|limit_except|if|mirror|ssl_verify_client|mirror_request_body|ssl_certificate|ssl_certificate_key|default_type|root|alias|index|try_files|autoindex|break|proxy_method|proxy_set_body|proxy_pass_request_headers|proxy_pass_request_body|fastcgi_pass|uwsgi_pass|scgi_pass|grpc_pass|memcached_pass|stub_status)$/;

/** Directives that tune how nginx works, and change nothing that callers or upstreams must know. */
const TUNING =
  /^(user|worker_.*|pid|daemon|master_process|error_log|access_log|log_.*|rewrite_log|load_module|env|events|use|multi_accept|pcre_jit|thread_pool|sendfile.*|tcp_.*|keepalive.*|types|types_hash.*|.*_hash_.*|server_tokens|client_body_.*|client_header_.*|large_client_header_buffers|send_timeout|reset_timedout_connection|lingering_.*|proxy_buffer.*|proxy_busy_.*|proxy_temp_.*|proxy_max_temp.*|proxy_http_version|proxy_request_buffering|proxy_socket_keepalive|proxy_headers_hash.*|proxy_pass_header|proxy_ssl_(server_name|session_reuse|protocols|ciphers)|ssl_(protocols|ciphers|prefer_.*|session_.*|ecdh_curve|dhparam|stapling.*|buffer_size|early_data|conf_command|trusted_certificate)|http2.*|http3.*|quic_.*|resolver.*|charset.*|aio|directio.*|output_buffers|open_file_cache.*|merge_slashes|port_in_redirect|absolute_redirect|server_name_in_redirect|underscores_in_headers|ignore_invalid_headers|limit_req_status|limit_req_log_level|postpone_output|etag|chunked_transfer_encoding|fastcgi_.*|uwsgi_.*|scgi_.*|variables_.*|map_hash.*|zone|uninitialized_variable_warn)$/;

/** Directives without an equivalent that guard nothing. */
const HARMLESS: readonly (readonly [RegExp, string])[] = [
  [/^(gzip|brotli|zstd).*$/, 'the gateway does not compress'],
  [/^(proxy_cache|expires|slice|open_file).*$/, 'there is no cache of responses'],
  [
    /^(error_page|proxy_intercept_errors|recursive_error_pages)$/,
    'errors have bodies of the gateway',
  ],
  [/^proxy_cookie_.*$/, 'see locations'],
  [/^(set_real_ip_from|real_ip_.*)$/, 'see TRUSTED_PROXIES of the data planes'],
  [/^(limit_conn.*|limit_rate.*)$/, 'see the limits of a service'],
  [/^proxy_ssl_.*$/, 'certificates of upstreams are always verified; see tls of the service'],
  [/^(map|geo|split_clients|perl_set|js_.*)$/, 'there are no variables of your own'],
  [/^(opentracing|otel|opentelemetry).*$/, 'set OTEL_… of the data planes'],
  [
    /^(sub_filter.*|add_trailer|image_filter.*|ssi.*|proxy_ignore_.*|proxy_store.*|more_.*|status_zone|api|add_before_body|add_after_body|source_charset)$/,
    '',
  ],
];

/** What a directive that nothing reads means for its route: whether it may guard it. */
export function reportUnread(
  conversion: Conversion,
  { name, args, place }: Directive,
): 'harmless' | 'may guard' {
  if (READ.test(name) || TUNING.test(name)) return 'harmless';
  if (name === 'include' && /(^|\/)mime\.types$/.test(args[0] ?? '')) return 'harmless';
  const [, reason] = HARMLESS.find(([pattern]) => pattern.test(name)) ?? [];
  if (reason !== undefined) {
    conversion.repeated('missing', place, reason === '' ? name : `${name}: ${reason}`);
    return 'harmless';
  }
  if (name === 'include') {
    conversion.missing(
      place,
      `include ${args[0] ?? ''}: the file is not read. Routes of its block are not open without it`,
    );
  } else if (name === 'set') {
    conversion.repeated('missing', place, 'set: there are no variables of your own');
    return 'harmless';
  } else {
    conversion.repeated(
      'missing',
      place,
      `${name}: unknown. Routes of its block are not open, because it may guard them`,
    );
  }
  return 'may guard';
}

/** Conditions that only add fields or answer with 2xx or 3xx guard nothing. */
export function isHarmlessIf({ block = [] }: Directive): boolean {
  return block.every(
    ({ name, args }) =>
      /^(add_header|expires|access_log|proxy_set_header)$/.test(name) ||
      (name === 'return' && /^[23]\d\d$|^http/.test(args[0] ?? '')),
  );
}

/**
 * Whether something in the source may refuse callers of a block: a password, a subrequest, addresses, a client
 * certificate, or something that is not known. Each has a remark at the route.
 */
export function guardsOf(
  route: RouteDraft,
  scope: Scope,
  unknown: ReadonlySet<Directive>,
): boolean {
  const before = route.remarks.length;
  const say = ({ place }: Directive, text: string) =>
    route.missing(place, `${text}. Callers need a token of the gateway`, 'auth');
  for (const name of ['auth_basic', 'auth_request'] as const) {
    const directive = scope.setting(name);
    if (directive === undefined || directive.args[0] === 'off') continue;
    say(
      directive,
      name === 'auth_basic'
        ? 'auth_basic: passwords of your own have no equivalent'
        : 'auth_request: no subrequest decides who may call',
    );
  }
  const addresses = scope.inherited('allow', 'deny');
  const [first] = addresses;
  const isOpen = addresses.every(({ name, args }) => name === 'allow' && args[0] === 'all');
  if (first !== undefined && !isOpen) say(first, 'allow and deny: there is no list of addresses');
  const verify = scope.setting('ssl_verify_client');
  if (verify !== undefined && verify.args[0] !== 'off')
    say(verify, 'ssl_verify_client: callers have no certificates');
  for (const { directives } of scope.chain()) {
    for (const directive of directives) {
      if (directive.name === 'if' && !isHarmlessIf(directive)) {
        say(directive, 'if: there are no conditions, and this one may refuse callers');
      } else if (unknown.has(directive) && directive.name !== 'ssl_verify_client') {
        say(directive, `${directive.name} may guard the route`);
      }
    }
  }
  return route.remarks.length > before;
}
