import { addSetting } from './add-setting.ts';

/** Whether addresses in responses are mapped. The routes that exist get `off`: their callers know those of upstreams. */
export const up = addSetting('routes', 'locations');
