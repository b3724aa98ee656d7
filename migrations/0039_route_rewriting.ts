import { addSetting } from './add-setting.ts';

/** What a route changes of requests and responses. */
export const up = addSetting('routes', 'rewrite');
