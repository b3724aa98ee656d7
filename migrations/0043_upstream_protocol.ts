import { addSetting } from './add-setting.ts';

/** The version of HTTP to the upstreams of a service. */
export const up = addSetting('services', 'protocol');
