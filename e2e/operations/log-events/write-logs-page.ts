// Writes the events of docs/run/logs.md from the log calls of the sources.
import { readFileSync, writeFileSync } from 'node:fs';
import { findLogEvents } from './find-log-events.ts';
import { LOGS_PAGE, withEvents } from './logs-page.ts';

writeFileSync(LOGS_PAGE, withEvents(readFileSync(LOGS_PAGE, 'utf8'), findLogEvents()));
