import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Config } from '../config.ts';
import { readOpenFilesLimit, withinOpenFiles } from '../limits/open-files.ts';
import type { ServerLimits } from './options.ts';

/** What bounds the connections of callers, and what comes over them. */
export function serverLimits(config: Config, log: Logger): ServerLimits {
  return {
    maxHeaderBytes: config.MAX_HEADER_BYTES,
    headersTimeoutMs: config.HEADERS_TIMEOUT_MS,
    keepAliveTimeoutMs: config.KEEP_ALIVE_TIMEOUT_MS,
    lingerTimeoutMs: config.LINGER_TIMEOUT_MS,
    maxConnections: withinOpenFiles(config.MAX_CONNECTIONS, readOpenFilesLimit(), log),
    maxConnectionsPerAddress: config.MAX_CONNECTIONS_PER_ADDRESS,
    trustedProxies: config.TRUSTED_PROXIES,
    stalledTimeoutMs: config.BODY_IDLE_TIMEOUT_MS,
    maxHeaderLines: config.MAX_HEADER_LINES,
    maxConcurrentStreams: config.HTTP2_MAX_CONCURRENT_STREAMS,
    maxResetsPerMinute: config.HTTP2_MAX_RESETS_PER_MINUTE,
    maxWindowBytes: config.HTTP2_MAX_WINDOW_BYTES,
  };
}
