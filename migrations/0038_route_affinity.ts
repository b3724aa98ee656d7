import { addSetting } from './add-setting.ts';

/** Which requests of a route go to the same upstream. */
export const up = addSetting('routes', 'affinity');
