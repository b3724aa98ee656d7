import { addSetting } from './add-setting.ts';

/** Which pages of other origins may read responses of a route. */
export const up = addSetting('routes', 'cors');
