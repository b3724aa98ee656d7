import { addSetting } from './add-setting.ts';

/** The version of HTTP in which WebSockets to the upstreams of a service are opened. */
export const up = addSetting('services', 'websocket_protocol');
