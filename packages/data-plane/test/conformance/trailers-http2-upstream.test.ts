import { HTTP2_UPSTREAM_SUITES } from './cases/all.ts';
import { runSuites } from './suites.ts';

runSuites(HTTP2_UPSTREAM_SUITES, {}, 'http2');
